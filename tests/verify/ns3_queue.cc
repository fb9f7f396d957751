// A queue discipline of ns-3 in front of a transmitter of 8 Mbit/s: ns3_queue KIND < OFFERS
//
// OFFERS has a line for each packet that comes, "time_ns flow bytes", in the order of time. A line is printed for each that
// is sent, "sent number time_ns" with the time at which its last bit leaves, and for each that is dropped, "dropped number
// time_ns". The source is open: nothing comes back to it. A transmission ends before a packet that comes at the same instant.

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "ns3/codel-queue-disc.h"
#include "ns3/core-module.h"
#include "ns3/fq-codel-queue-disc.h"
#include "ns3/packet-filter.h"
#include "ns3/packet.h"
#include "ns3/pie-queue-disc.h"

using namespace ns3;

static const int64_t NANOS_PER_BYTE = 1000;

struct Offer {
    int64_t at;
    int32_t flow;
    uint32_t bytes;
};

class Item : public QueueDiscItem {
  public:
    Item(const Offer& offer, size_t number)
        : QueueDiscItem(Create<Packet>(offer.bytes), Address(), 0), number(number), flow(offer.flow) {}
    void AddHeader() override {}
    bool Mark() override { return false; }
    const size_t number;
    const int32_t flow;
};

class ByFlow : public PacketFilter {
    bool CheckProtocol(Ptr<QueueDiscItem>) const override { return true; }
    int32_t DoClassify(Ptr<QueueDiscItem> item) const override { return StaticCast<Item>(item)->flow; }
};

static Ptr<QueueDisc> discipline;
static std::vector<Offer> offers;
static size_t next_offer = 0;
static bool is_busy = false;

static void Take() {
    Ptr<QueueDiscItem> item = discipline->Dequeue();
    is_busy = bool(item);
    if (item) {
        const Time lasts = NanoSeconds(NANOS_PER_BYTE * item->GetSize());
        std::cout << "sent " << StaticCast<Item>(item)->number << ' ' << (Simulator::Now() + lasts).GetNanoSeconds() << '\n';
        Simulator::Schedule(lasts, &Take);
    }
}

static void Dropped(Ptr<const QueueDiscItem> item) {
    std::cout << "dropped " << DynamicCast<const Item>(item)->number << ' ' << Simulator::Now().GetNanoSeconds() << '\n';
}

static void Come() {
    Ptr<Item> item = Create<Item>(offers[next_offer], next_offer);
    item->SetTimeStamp(Simulator::Now());
    discipline->Enqueue(item);
    if (!is_busy) {
        Take();
    }
}

// A second event at the same instant: an end of a transmission that was scheduled after this one goes first.
static void Next() {
    Simulator::ScheduleNow(&Come);
    Simulator::ScheduleNow(+[] {
        if (++next_offer < offers.size()) {
            Simulator::Schedule(NanoSeconds(offers[next_offer].at) - Simulator::Now(), &Next);
        }
    });
}

static Ptr<QueueDisc> Made(const std::string& kind) {
    // Linux takes a packet as good behind which 1500 B are left at most, ns-3 behind which less than MinBytes are.
    Config::SetDefault("ns3::CoDelQueueDisc::MinBytes", UintegerValue(1501));
    if (kind == "codel") {
        return CreateObjectWithAttributes<CoDelQueueDisc>("MaxSize", StringValue("1000p"));
    }
    if (kind == "fq-codel") {
        Ptr<FqCoDelQueueDisc> fair = CreateObjectWithAttributes<FqCoDelQueueDisc>("UseEcn", BooleanValue(false));
        fair->SetQuantum(1500);
        fair->AddPacketFilter(CreateObject<ByFlow>());
        return fair;
    }
    NS_ABORT_MSG_IF(kind != "pie", "ns3_queue codel|fq-codel|pie");
    return CreateObjectWithAttributes<PieQueueDisc>(
        "MaxSize", StringValue("1000p"), "Supdate", TimeValue(MilliSeconds(500)), "Tupdate", TimeValue(MilliSeconds(16)),
        "MaxBurstAllowance", TimeValue(MilliSeconds(150)), "UseDerandomization", BooleanValue(true));
}

int main(int argc, char* argv[]) {
    NS_ABORT_MSG_IF(argc != 2, "ns3_queue KIND < OFFERS");
    for (Offer offer; std::cin >> offer.at >> offer.flow >> offer.bytes;) {
        offers.push_back(offer);
    }
    discipline = Made(argv[1]);
    discipline->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
    discipline->Initialize();
    Simulator::Schedule(NanoSeconds(offers.at(0).at), &Next);
    Simulator::Stop(NanoSeconds(offers.back().at) + Seconds(60));
    Simulator::Run();
    Simulator::Destroy();
}
