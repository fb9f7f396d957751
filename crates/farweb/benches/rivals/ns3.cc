// Transfers over a chain of links in ns-3: ns3 TRANSFERS LINKS RATE DELAY WINDOW [count]
//
// TRANSFERS is a file with a line for each, "start_s bytes". Each has a connection of its own from the first node
// to the last, which ends with it; no request is sent. What makes ns-3 faster is switched on: no trace, no queue
// discipline above the devices, a source is made only when it starts, and TIME_WAIT is short, since each segment is
// looked up in a list of all endpoints. With "count" it prints the packet-hops, packets that a device received;
// without, nothing is counted.

#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

static const uint16_t PORT = 80;
static uint64_t hops = 0;
static std::ifstream table;
static Ptr<Node> source;
static Ipv4Address sink;

static void Arrived(Ptr<const Packet>) { ++hops; }

static void Transfer(uint64_t bytes);

// The next line of the table is read when the one before has started.
static void Begin() {
    double at;
    uint64_t bytes;
    if (table >> at >> bytes) {
        Simulator::Schedule(Seconds(at) - Simulator::Now(), &Transfer, bytes);
    }
}

static void Transfer(uint64_t bytes) {
    Ptr<BulkSendApplication> application = CreateObject<BulkSendApplication>();
    application->SetAttribute("Remote", AddressValue(InetSocketAddress(sink, PORT)));
    application->SetAttribute("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
    application->SetAttribute("SendSize", UintegerValue(1460));
    application->SetAttribute("MaxBytes", UintegerValue(bytes));
    source->AddApplication(application);
    Begin();
}

int main(int argc, char* argv[]) {
    NS_ABORT_MSG_IF(argc < 6, "ns3 TRANSFERS LINKS RATE DELAY WINDOW [count]");
    table.open(argv[1]);
    const uint32_t links = std::stoul(argv[2]);
    const uint32_t window = std::stoul(argv[5]);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MaxSegLifetime", DoubleValue(0.1));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));

    NodeContainer nodes;
    nodes.Create(links + 1);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(argv[3]));
    link.SetChannelAttribute("Delay", StringValue(argv[4]));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    TrafficControlHelper disciplines;
    for (uint32_t number = 0; number < links; ++number) {
        NetDeviceContainer devices = link.Install(nodes.Get(number), nodes.Get(number + 1));
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        disciplines.Uninstall(devices);
        addresses.NewNetwork();
        sink = interfaces.GetAddress(1);
        if (argc > 6) {
            for (uint32_t end = 0; end < 2; ++end) {
                devices.Get(end)->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&Arrived));
            }
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    source = nodes.Get(0);
    PacketSinkHelper receiver("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    receiver.Install(nodes.Get(links));

    Simulator::ScheduleNow(&Begin);
    Simulator::Run();
    Simulator::Destroy();
    std::cout << hops << std::endl;
    return 0;
}
