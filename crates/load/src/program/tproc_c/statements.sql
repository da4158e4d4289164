-- What a client sends whose transactions are statements of its own: the same on every engine, in the order of the
-- states in client.rs. Only `[...]` lines differ, by engine and quirk (see script.rs).

== begin
BEGIN

== commit
COMMIT

== rollback
ROLLBACK

== select-tax-and-discount keep 1
SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse
WHERE w_id = {w} AND c_w_id = {w} AND c_d_id = {d} AND c_id = {c}

== select-next-order keep 1
SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = {w} AND d_id = {d} FOR UPDATE

== update-next-order
UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = {w} AND d_id = {d}

== insert-order
INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
VALUES ({o}, {d}, {w}, {c}, CURRENT_TIMESTAMP, {ol_cnt}, {all_local})

== insert-new-order
INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES ({o}, {d}, {w})

== select-item keep 1
SELECT i_price, i_name, i_data FROM item WHERE i_id = {item}

== select-stock keep 1
SELECT s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08,
s_dist_09, s_dist_10 FROM stock WHERE s_i_id = {item} AND s_w_id = {supply}
[!unlocked-reads] FOR UPDATE

== update-stock
UPDATE stock SET s_quantity = {left}
[!missing-counters] , s_ytd = s_ytd + {quantity}, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + {remote}
WHERE s_i_id = {item} AND s_w_id = {supply}

== insert-line
INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
ol_dist_info) VALUES ({o}, {d}, {w}, {n}, {item}, {supply}, {quantity}, {amount} * 0.01
[taxed-amounts] * (1 + {tax} * 0.0001) * (1 - {discount} * 0.0001)
, {dist_info})

== insert-invalid-line
-- Amount and text of an item that is not there are NULL.
INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity)
VALUES ({o}, {d}, {w}, {n}, {item}, {supply}, {quantity})

== update-warehouse
UPDATE warehouse SET w_ytd = w_ytd + {amount} * 0.01 WHERE w_id = {w}

== select-warehouse keep 1
SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = {w}

== update-district
UPDATE district SET d_ytd = d_ytd + {amount} * 0.01 WHERE d_w_id = {w} AND d_id = {d}

== select-district keep 1
SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = {w} AND d_id = {d}

== select-customers-by-name keep 250
SELECT c_id, c_balance, c_first, c_middle FROM customer
WHERE c_w_id = {c_w} AND c_d_id = {c_d} AND c_last = RTRIM({last}) ORDER BY c_first

== select-customer keep 1
-- Also with the lock, so that no other payment or delivery comes between.
SELECT c_balance, c_credit, c_data, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
c_since, c_credit_lim, c_discount FROM customer WHERE c_w_id = {c_w} AND c_d_id = {c_d} AND c_id = {c}
[!unlocked-reads] FOR UPDATE

== update-customer
UPDATE customer SET c_balance = {balance} * 0.01
[!missing-counters] , c_ytd_payment = c_ytd_payment + {amount} * 0.01, c_payment_cnt = c_payment_cnt + 1
WHERE c_w_id = {c_w} AND c_d_id = {c_d} AND c_id = {c}

== update-bad-customer
UPDATE customer SET c_balance = {balance} * 0.01
[!missing-counters] , c_ytd_payment = c_ytd_payment + {amount} * 0.01, c_payment_cnt = c_payment_cnt + 1
, c_data = RTRIM({c_data})
WHERE c_w_id = {c_w} AND c_d_id = {c_d} AND c_id = {c}

== insert-history
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
VALUES ({c}, {c_d}, {c_w}, {d}, {w}, CURRENT_TIMESTAMP, {amount} * 0.01, RTRIM({h_data}))

== select-customer-status keep 1
SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = {c_w} AND c_d_id = {c_d} AND c_id = {c}

== select-last-order keep 1
SELECT o_id, o_carrier_id, o_entry_d FROM orders
WHERE o_w_id = {c_w} AND o_d_id = {c_d} AND o_c_id = {c} ORDER BY o_id DESC LIMIT 1

== select-lines
SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
WHERE ol_w_id = {c_w} AND ol_d_id = {c_d} AND ol_o_id = {o}

== select-oldest-new-order keep 1
SELECT no_o_id FROM new_order WHERE no_w_id = {w} AND no_d_id = {d}
[!unchecked-delivery] ORDER BY no_o_id
LIMIT 1
[!unchecked-delivery] FOR UPDATE

== delete-new-order
DELETE FROM new_order WHERE no_w_id = {w} AND no_d_id = {d} AND no_o_id = {o}

== update-carrier
UPDATE orders SET o_carrier_id = {carrier} WHERE o_w_id = {w} AND o_d_id = {d} AND o_id = {o}

== select-customer-of-order keep 1
-- Behind the update: a snapshot that is older than the order shows it all the same, since we changed it.
SELECT o_c_id FROM orders WHERE o_w_id = {w} AND o_d_id = {d} AND o_id = {o}

== update-lines
UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = {w} AND ol_d_id = {d} AND ol_o_id = {o}

== select-amount keep 1
SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = {w} AND ol_d_id = {d} AND ol_o_id = {o}

== update-balance
UPDATE customer SET c_balance = c_balance + {amount} * 0.01
[!missing-counters] , c_delivery_cnt = c_delivery_cnt + 1
WHERE c_w_id = {w} AND c_d_id = {d} AND c_id = {c}

== select-order-count keep 1
SELECT d_next_o_id FROM district WHERE d_w_id = {w} AND d_id = {d}

== select-low-stock keep 1
SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock
WHERE ol_w_id = {w} AND ol_d_id = {d} AND ol_o_id < {o} AND ol_o_id >= {o} - 20
AND s_w_id = {w} AND s_i_id = ol_i_id AND s_quantity < {threshold}
