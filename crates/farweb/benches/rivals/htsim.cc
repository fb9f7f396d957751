// Transfers over a chain of links in htsim: htsim TRANSFERS LINKS RATE_MBPS DELAY_MS WINDOW
//
// TRANSFERS is a file with a line for each, "start_s bytes". Each has a TCP source at the first node and a sink at
// the last; a SYN goes before the data, there is no close. What makes htsim faster is switched on: no logger, and
// no scan for retransmission timeouts, as nothing is lost. Prints the packet-hops: each packet of a source crosses
// every link, and so does its ACK.

#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "route.h"
#include "tcp.h"

static const int SEGMENT = 1460;

// One transfer: its two ends, and its ways there and back.
struct Transfer {
    Transfer(EventList& events, const Route& there, const Route& back, uint64_t bytes, uint32_t window)
        : source(nullptr, nullptr, events), out(there), home(back) {
        source.set_flowsize(bytes);
        source.set_cwnd(SEGMENT);
        source.set_ssthresh(window);
        source._maxcwnd = window;
        out.push_back(&sink);
        home.push_back(&source);
        source.connect(out, home, sink, events.now());
    }

    uint64_t packets() const { return source._packets_sent / SEGMENT + 1; }

    TcpSrc source;
    TcpSink sink;
    Route out, home;
};

// Reads the table and starts each transfer in its time.
class Starter : public EventSource {
public:
    Starter(EventList& events, const char* file, Route there, Route back, uint32_t window)
        : EventSource(events, "starter"), _table(file), _there(there), _back(back), _window(window) {
        readNext();
    }

    void doNextEvent() override {
        _transfers.emplace_back(new Transfer(eventlist(), _there, _back, _bytes, _window));
        readNext();
    }

    uint64_t packets() const {
        uint64_t sum = 0;
        for (const auto& transfer : _transfers) sum += transfer->packets();
        return sum;
    }

private:
    void readNext() {
        double at;
        if (_table >> at >> _bytes) eventlist().sourceIsPending(*this, timeFromSec(at));
    }

    std::ifstream _table;
    Route _there, _back;
    uint32_t _window;
    uint64_t _bytes = 0;
    std::vector<std::unique_ptr<Transfer>> _transfers;
};

int main(int argc, char* argv[]) {
    if (argc != 6) {
        std::cerr << "htsim TRANSFERS LINKS RATE_MBPS DELAY_MS WINDOW\n";
        return 2;
    }
    std::cout.setstate(std::ios::failbit);  // it tells of every flow
    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(100000));
    Packet::set_packet_size(SEGMENT);
    const int links = std::stoi(argv[2]);
    const linkspeed_bps rate = speedFromMbps(std::stod(argv[3]));
    const simtime_picosec delay = timeFromMs(std::stod(argv[4]));
    Route there, back;
    for (int link = 0; link < links; ++link) {
        for (Route* way : {&there, &back}) {
            way->push_back(new Queue(rate, 1000000000, events, nullptr));
            way->push_back(new Pipe(delay, events));
        }
    }
    Starter starter(events, argv[1], there, back, std::stoul(argv[5]));
    while (events.doNextEvent()) {
    }
    std::cout.clear();
    std::cout << 2 * links * starter.packets() << std::endl;
    return 0;
}
