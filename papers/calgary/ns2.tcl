# The study in ns-2 2.35: ns ns2.tcl TRANSFERS RATE1
#
# TRANSFERS has a line for each transfer, "start_s bytes source", in the order of starts; RATE1 is the capacity of the
# link to the clients in Mbit/s. Prints a line for each transfer, "number source latency_s retransmits": the latency is
# that until the sender has the last ACK.

lassign $argv transfers rate1
remove-all-packet-headers
add-packet-header IP TCP Flags
Agent/TCP set window_ 20
Agent/TCP set windowInit_ 1
Agent/TCP set syn_ false
Agent/TCP set delay_growth_ false
Agent/TCP set packetSize_ 512
Agent/TCP set tcpTick_ 0.1
Agent/TCP set minrto_ 0
Agent/TCP set rtxcur_init_ 6.0
Agent/TCP set singledup_ 0

set ns [new Simulator]
foreach name {clients child parent server} { set node($name) [$ns node] }
foreach {one other rate delay} "clients child $rate1 1ms child parent 10 5ms parent server 10 30ms" {
    $ns duplex-link $node($one) $node($other) ${rate}Mb $delay DropTail
    $ns queue-limit $node($one) $node($other) 100
    $ns queue-limit $node($other) $node($one) 100
}

set table [open $transfers]
set begun 0
set ended 0
set all 0

Agent/TCP/Reno instproc done {} {
    global ns ended
    puts "[$self set number] [$self set source] [format %.6f [expr {[$ns now] - [$self set began]}]] [$self set nrexmitpack_]"
    incr ended
}

proc transfer {bytes source} {
    global ns node begun
    set tcp [new Agent/TCP/Reno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $node($source) $tcp
    $ns attach-agent $node(clients) $sink
    $ns connect $tcp $sink
    $tcp set number $begun
    $tcp set source $source
    $tcp set began [$ns now]
    incr begun
    $tcp send $bytes
}

proc next {} {
    global ns table all
    if {[gets $table line] < 0} {
        set all 1
        return
    }
    lassign $line at bytes source
    $ns at $at "transfer $bytes $source; next"
}

proc watch {} {
    global ns all begun ended
    if {$all && $ended == $begun} { exit 0 }
    $ns at [expr {[$ns now] + 1}] watch
}

next
$ns at 1 watch
$ns run
