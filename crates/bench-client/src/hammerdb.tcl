# HammerDB's own virtual users, from a checkout of HammerDB, without its program around them.
#
# usage: tclsh hammerdb.tcl routines|run CHECKOUT postgres|mysql SOCKET USER DATABASE [WAREHOUSES USERS SECONDS]
#
# HammerDB writes the script of its virtual users into a window, and runs what stands there. Here is another window: its
# own code writes the script into it, which then runs as it is, in a thread for each virtual user. `routines` makes the
# routines that they call. HammerDB's first thread only counts; here that is done by whoever started this.

package require Thread

lassign $argv act checkout engine socket user database warehouses users seconds

# What HammerDB keeps of its options, by the names of the variables that its code reads.
set port [string range [file extension $socket] 1 end]
set options(postgres) [dict create \
    pg_host [file dirname $socket] pg_port $port pg_sslmode disable pg_async_scale false pg_connect_pool false \
    pg_user $user pg_pass {{}} pg_dbase $database pg_superuser $user pg_superuserpass {{}} pg_defaultdbase $database \
    pg_total_iterations 1000000000 pg_raiseerror false pg_keyandthink false pg_rampup 0 pg_duration 1 \
    pg_vacuum false pg_dritasnap false pg_oracompat false pg_cituscompat false pg_storedprocs false \
    pg_tspace pg_default pg_partition false pg_count_ware 1 pg_num_vu 1 pg_allwarehouse false pg_timeprofile false]
set options(mysql) [dict create \
    mysql_host localhost mysql_port 3306 mysql_socket $socket mysql_ssl_options {} mysql_async_scale false \
    mysql_connect_pool false mysql_user $user mysql_pass {{}} mysql_dbase $database mysql_total_iterations 1000000000 \
    mysql_raiseerror false mysql_keyandthink false mysql_rampup 0 mysql_duration 1 mysql_prepared false \
    mysql_no_stored_procs false mysql_storage_engine innodb mysql_partition false mysql_history_pk false \
    mysql_count_ware 1 mysql_num_vu 1 mysql_allwarehouse false mysql_timeprofile false]
set files {postgres {postgresql pgoltp.tcl pg} mysql {mysql mysqloltp.tcl mysql}}
lassign [dict get $files $engine] folder file prefix

# The window, and what else HammerDB's code asks for around it.
set written {}
proc .ed_mainFrame.mainwin.textFrame.left.text {command args} {
    if {$command ne "fastinsert" || [lindex $args 0] ne "end"} {
        error "HammerDB does `$command $args` in its window, which is not known here"
    }
    lappend ::written [lindex $args 1]
}
proc .ed_mainFrame.notebook args {}
proc ed_edit_clear {} { set ::written {} }
proc load_virtual {} {}
proc tk_messageBox args { return yes }
proc quotemeta text { return $text }
proc setlocaltpccvars {config} {
    dict for {name value} $config { uplevel 1 [list set $name $value] }
}
set dbdict {}
set opmode Local
set mysql_ssl_options {}
set config$folder $options($engine)
set modules [file join $checkout modules]
tcl::tm::path add $modules
source [file join $checkout src $folder $file]

# Debian's library knows no handler of notices, of which the server sends none, and its pg_exec_prepared takes values
# alone, where HammerDB's takes formats of results and values before them.
set missing { proc pg_notice_handler args {} }
proc fitted {script} {
    return [regsub -all {(pg_exec_prepared \$lda \w+) \{\} \{\}} $script {\1}]
}

if {$act eq "routines"} {
    eval $missing
    tsv::set application abort 0
    build_${prefix}tpcc
    # The last thing written is the call that builds everything.
    eval [join [lrange $written 0 end-1] "\n"]
    switch $engine {
        postgres {
            set session [ConnectToPostgres [file dirname $socket] $port disable $user {} $database]
            CreateStoredProcs $session false false false
        }
        mysql {
            set session [ConnectToMySQL localhost 3306 $socket {} $user {{}}]
            mysqluse $session $database
            foreach routine {NEWORD PAYMENT DELIVERY OSTAT SLEV} {
                mysqlexec $session "DROP PROCEDURE IF EXISTS $routine"
            }
            CreateStoredProcs $session
        }
    }
    exit 0
}

# A user's first number is its home. Users of one home wait for each other, so that what they draw makes a run fast or
# slow; here they are spread evenly, as those of the other clients: their numbers begin where the first one says so.
set at_home {{home warehouses} {
    while 1 {
        set seed [expr {int(rand() * 2147483646) + 1}]
        expr {srand($seed)}
        if {int(rand() * $warehouses) + 1 == $home} break
    }
    expr {srand($seed)}
}}

loadtimed${prefix}tpcc
set script [fitted [join $written ""]]
tsv::set application abort 0
tsv::set application themaster [thread::id]
# HammerDB tells its first thread, the one that counts, by its place among all: it waits here for its end.
set all [list [thread::create -joinable]]
for {set user 0} {$user < $users} {incr user} { lappend all [thread::create -joinable] }
set user 0
foreach thread [lrange $all 1 end] {
    thread::send -async $thread [list apply $at_home [expr {$user % $warehouses + 1}] $warehouses]
    incr user
    thread::send -async $thread [list tcl::tm::path add $modules]
    thread::send -async $thread $missing
    thread::send -async $thread $script
    thread::send -async $thread thread::release
}
after [expr {int($seconds * 1000)}]
tsv::set application abort 1
thread::send -async [lindex $all 0] thread::release
foreach thread $all { thread::join $thread }
