# Transfers over a chain of links in ns-2: ns ns2.tcl TRANSFERS LINKS RATE DELAY WINDOW
#
# TRANSFERS is a file with a line for each, "start_s bytes". Data goes by one-way TCP from the first node to the
# last, ACKs come back. What makes ns-2 faster is switched on: no trace, only the packet headers that are needed,
# and agents that have done their transfer do the next one, since making agents takes most of the time. Prints the
# packet-hops: nothing is lost, so each packet of data crosses every link, and so does the ACK that it causes.

lassign $argv transfers links rate delay window
remove-all-packet-headers
add-packet-header IP TCP Flags
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ $window
Agent/TCP set windowInit_ 1
Agent/TCP set syn_ false
Agent/TCP set delay_growth_ false

set ns [new Simulator]
set last [$ns node]
set first $last
for {set link 0} {$link < $links} {incr link} {
    set next [$ns node]
    $ns duplex-link $last $next $rate $delay DropTail
    $ns queue-limit $last $next 1000000
    $ns queue-limit $next $last 1000000
    set last $next
}

set idle {}
set packets 0
set running 0

Agent/TCP/Reno instproc done {} {
    global idle packets running
    incr packets [$self set ndatapack_]
    incr running -1
    lappend idle $self
}

proc transfer {bytes} {
    global ns first last idle running
    if {[llength $idle]} {
        set tcp [lindex $idle end]
        set idle [lreplace $idle end end]
        $tcp reset
        $tcp set ndatapack_ 0
        [$tcp set sink] reset
    } else {
        set tcp [new Agent/TCP/Reno]
        set sink [new Agent/TCPSink]
        $tcp set sink $sink
        $ns attach-agent $first $tcp
        $ns attach-agent $last $sink
        $ns connect $tcp $sink
    }
    incr running
    $tcp send $bytes
}

# The next line of the table is read when the one before has started.
set table [open $transfers]
proc begin {} {
    global ns table
    if {[gets $table line] >= 0} {
        lassign $line at bytes
        $ns at $at "transfer $bytes; begin"
    }
}
proc watch {} {
    global ns running packets links table
    if {[eof $table] && $running == 0} {
        puts [expr {2 * $packets * $links}]
        exit 0
    }
    $ns at [expr {[$ns now] + 1}] watch
}
$ns at 0 begin
$ns at 1 watch
$ns run
