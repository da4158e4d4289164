-- How routines are called: a section for each type of transaction and step. PostgreSQL returns what comes out with the
-- call itself; on MySQL and MariaDB values go in and out through variables of the session, where there are any.

== new-order.set
[mysql !server-draws] SET @w = {w}, @d = {d}, @c = {c}, @ol_cnt = {ol_cnt}, @all_local = {all_local}, @lines = {lines}
[mysql server-draws] SET @w = {w}, @d = {d}, @c = {c}, @ol_cnt = {ol_cnt}, @warehouses = {warehouses}

== new-order.call keep 1
[function !server-draws] SELECT tproc.new_order({w}, {d}, {c}, {ol_cnt}, {all_local}, {lines}::int[])
[function server-draws] SELECT tproc.new_order({w}, {d}, {c}, {ol_cnt}, {warehouses})
[procedure !server-draws] CALL tproc.new_order({w}, {d}, {c}, {ol_cnt}, {all_local}, {lines}, NULL)
[procedure server-draws] CALL tproc.new_order({w}, {d}, {c}, {ol_cnt}, {warehouses}, NULL)
[mysql !server-draws] CALL tproc_new_order(@w, @d, @c, @ol_cnt, @all_local, @lines, @o)
[mysql server-draws] CALL tproc_new_order(@w, @d, @c, @ol_cnt, @warehouses, @o)

== new-order.results keep 1
[mysql] SELECT @o

== payment.set
[mysql] SET @w = {w}, @d = {d}, @c_w = {c_w}, @c_d = {c_d}, @c = {c}, @by_name = {by_name}, @last = RTRIM({last}),
[mysql] @amount = {amount}

== payment.call keep 1
[function !literal-last-name] SELECT tproc.payment({w}, {d}, {c_w}, {c_d}, {c}, {by_name}, RTRIM({last}), {amount})
-- What stands in quotes is no parameter: nobody is called so.
[function literal-last-name] SELECT tproc.payment({w}, {d}, {c_w}, {c_d}, {c}, {by_name}, '$7', {amount})
[procedure] CALL tproc.payment({w}, {d}, {c_w}, {c_d}, {c}, {by_name}, {last}, {amount}, NULL)
[mysql] CALL tproc_payment(@w, @d, @c_w, @c_d, @c, @by_name, @last, @amount, @balance)

== payment.results keep 1
[mysql] SELECT @balance

== delivery.set
[prepared-call] SET @w = {w}, @carrier = {carrier}

== delivery.call keep 1
[function] SELECT tproc.delivery({w}, {carrier})
[procedure] CALL tproc.delivery({w}, {carrier}, NULL)
[call] CALL tproc_delivery({w}, {carrier}, @delivered)
[prepared-call] CALL tproc_delivery(@w, @carrier, @delivered)

== delivery.results keep 1
[mysql] SELECT @delivered

== order-status.set
[mysql] SET @w = {w}, @d = {d}, @c = {c}, @by_name = {by_name}, @last = RTRIM({last})

== order-status.call keep 1
[function !literal-last-name] SELECT tproc.order_status({w}, {d}, {c}, {by_name}, RTRIM({last}))
[function literal-last-name] SELECT tproc.order_status({w}, {d}, {c}, {by_name}, '$5')
[procedure] CALL tproc.order_status({w}, {d}, {c}, {by_name}, {last}, NULL)
[mysql] CALL tproc_order_status(@w, @d, @c, @by_name, @last, @order_lines)

== order-status.results keep 1
[mysql] SELECT @order_lines

== stock-level.set
[prepared-call] SET @w = {w}, @d = {d}, @threshold = {threshold}

== stock-level.call keep 1
[function] SELECT tproc.stock_level({w}, {d}, {threshold})
[procedure] CALL tproc.stock_level({w}, {d}, {threshold}, NULL)
[call] CALL tproc_stock_level({w}, {d}, {threshold}, @low)
[prepared-call] CALL tproc_stock_level(@w, @d, @threshold, @low)

== stock-level.results keep 1
[mysql] SELECT @low
