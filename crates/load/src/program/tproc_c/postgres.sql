-- The routines on PostgreSQL, functions or procedures, each a transaction of its own. `[...]` lines are there by form
-- and quirk (see script.rs). A handler of errors makes a subtransaction of what stands before it, and passes on what it
-- is given. Values that come out are OUT parameters: the answer to a call is one row.

== drop
DROP SCHEMA IF EXISTS tproc CASCADE

== create
CREATE SCHEMA tproc

-- A function in PL/pgSQL, as HammerDB has it: a transaction pays for more than thirty calls.
== draw
[server-draws] CREATE FUNCTION tproc.draw(p_low int, p_high int) RETURNS int LANGUAGE plpgsql STRICT AS $$
[server-draws] BEGIN
[server-draws]   RETURN trunc(random() * (p_high - p_low + 1) + p_low);
[server-draws] END $$

== new_order
[function] CREATE FUNCTION
[procedure] CREATE PROCEDURE
tproc.new_order(p_w int, p_d int, p_c int, p_ol_cnt int,
[!server-draws] p_all_local int, p_lines int[],
[server-draws] p_warehouses int,
[function] OUT p_o int)
[procedure] INOUT p_o int)
LANGUAGE plpgsql AS $$
DECLARE
  v_discount numeric; v_last text; v_credit text; v_w_tax numeric; v_d_tax numeric; v_price numeric; v_info text;
  v_items int[]; v_supplies int[]; v_total numeric := 0;
[!typed-arrays]   v_quantities int[];
[typed-arrays]   v_quantities smallint[];
[server-draws]   v_all_local int := 1; v_supply int;
[committed-invalid-item !typed-arrays]   v_prices numeric[]; v_amounts numeric[]; v_infos text[];
[committed-invalid-item typed-arrays]   v_prices numeric(5,2)[]; v_amounts numeric(6,2)[]; v_infos char(24)[];
[committed-invalid-item typed-arrays]   v_numbers smallint[]; v_left smallint[];
BEGIN
  SELECT c_discount, c_last, c_credit, w_tax INTO v_discount, v_last, v_credit, v_w_tax
  FROM customer, warehouse WHERE w_id = p_w AND c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
  FOR n IN 1..p_ol_cnt LOOP
[!server-draws]     v_items[n] := p_lines[3 * n - 2]; v_supplies[n] := p_lines[3 * n - 1];
[!server-draws]     v_quantities[n] := p_lines[3 * n];
[server-draws]     v_items[n] := tproc.draw(1, 100000);
[server-draws]     IF n = p_ol_cnt AND tproc.draw(1, 100) = 1 THEN v_items[n] := 100001; END IF;
[server-draws]     v_supply := p_w;
[server-draws]     IF tproc.draw(1, 100) = 1 THEN
-- The home warehouse may be drawn too, and counts as remote.
[server-draws]       v_all_local := 0;
[server-draws]       v_supply := 1 + (p_w + tproc.draw(0, p_warehouses - 1)) % p_warehouses;
[server-draws]     END IF;
[server-draws]     v_supplies[n] := v_supply; v_quantities[n] := tproc.draw(1, 10);
[committed-invalid-item typed-arrays]     v_numbers[n] := n;
  END LOOP;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w AND d_id = p_d
  RETURNING d_next_o_id - 1, d_tax INTO p_o, v_d_tax;
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
  VALUES (p_o, p_d, p_w, p_c, CURRENT_TIMESTAMP, p_ol_cnt,
[!server-draws]   p_all_local);
[server-draws]   v_all_local);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (p_o, p_d, p_w);
-- All lines at once: no price is missed, and a line whose stock is not there gets neither amount nor text.
[committed-invalid-item]   SELECT array_agg(i_price ORDER BY n) INTO v_prices
[committed-invalid-item]   FROM unnest(v_items) WITH ORDINALITY line(line_item, n) LEFT JOIN item ON i_id = line_item;
[committed-invalid-item]   WITH taken AS (
[committed-invalid-item]     UPDATE stock
[!committed-invalid-item]   FOR n IN 1..p_ol_cnt LOOP
[!committed-invalid-item]     SELECT i_price INTO v_price FROM item WHERE i_id = v_items[n];
[!committed-invalid-item]     IF NOT FOUND THEN RAISE EXCEPTION USING ERRCODE = 'RQ001'; END IF;
[!committed-invalid-item]     UPDATE stock
    SET s_quantity = CASE WHEN s_quantity >= line_quantity + 10 THEN s_quantity - line_quantity
                          ELSE s_quantity - line_quantity + 91 END
[!missing-counters]     , s_ytd = s_ytd + line_quantity, s_order_cnt = s_order_cnt + 1
[!missing-counters]     , s_remote_cnt = s_remote_cnt + CASE WHEN line_supply = p_w THEN 0 ELSE 1 END
[committed-invalid-item]     FROM unnest(v_items, v_supplies, v_quantities, v_prices)
[!committed-invalid-item]     FROM (SELECT v_items[n], v_supplies[n], v_quantities[n], v_price)
    line(line_item, line_supply, line_quantity, line_price)
    WHERE s_i_id = line_item AND s_w_id = line_supply
[typed-arrays]     AND s_w_id = ANY (v_supplies)
    RETURNING line_quantity * line_price
[taxed-amounts]           * (1 + v_w_tax + v_d_tax) * (1 - v_discount)
              AS amount,
              CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
                       WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
                       WHEN 9 THEN s_dist_09 ELSE s_dist_10 END AS info
[committed-invalid-item typed-arrays]     , s_quantity AS quantity_left
[committed-invalid-item !typed-arrays]   ) SELECT array_agg(amount), array_agg(info) INTO v_amounts, v_infos FROM taken;
[committed-invalid-item typed-arrays]   ) SELECT array_agg(amount), array_agg(info), array_agg(quantity_left)
[committed-invalid-item typed-arrays]   INTO v_amounts, v_infos, v_left FROM taken;
[committed-invalid-item]   INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
[committed-invalid-item]                           ol_quantity, ol_amount, ol_dist_info)
[committed-invalid-item]   SELECT p_o, p_d, p_w, n, line_item, line_supply, line_quantity, line_amount, line_info
[committed-invalid-item]   FROM unnest(v_items, v_supplies, v_quantities, v_amounts, v_infos
[committed-invalid-item !typed-arrays]   ) WITH ORDINALITY
[committed-invalid-item typed-arrays]   , v_numbers)
[committed-invalid-item]   line(line_item, line_supply, line_quantity, line_amount, line_info, n);
[committed-invalid-item]   SELECT sum(amount) INTO v_total FROM unnest(v_amounts) amount;
[!committed-invalid-item]     INTO v_price, v_info;
[!committed-invalid-item]     INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
[!committed-invalid-item]                             ol_quantity, ol_amount, ol_dist_info)
[!committed-invalid-item]     VALUES (p_o, p_d, p_w, n, v_items[n], v_supplies[n], v_quantities[n], v_price, v_info);
[!committed-invalid-item]     v_total := v_total + v_price;
[!committed-invalid-item]   END LOOP;
[!taxed-amounts]   v_total := v_total * (1 + v_w_tax + v_d_tax) * (1 - v_discount);
-- What was done since BEGIN is undone; the call itself succeeds.
[!committed-invalid-item] EXCEPTION WHEN SQLSTATE 'RQ001' THEN p_o := 0;
[committed-invalid-item subtransactions] EXCEPTION WHEN serialization_failure OR deadlock_detected OR no_data_found THEN RAISE;
END $$

== payment
[function] CREATE FUNCTION
[procedure] CREATE PROCEDURE
tproc.payment(p_w int, p_d int, p_c_w int, p_c_d int, p_c int, p_by_name int, p_last text, p_cents bigint,
[function] OUT p_balance numeric)
[procedure] INOUT p_balance numeric)
LANGUAGE plpgsql AS $$
DECLARE
  v_amount numeric := p_cents * 0.01; v_w_name text; v_d_name text; v_c int := p_c; v_credit text; v_data text;
  v_street_1 text; v_street_2 text; v_city text; v_state text; v_zip text;
BEGIN
  UPDATE warehouse SET w_ytd = w_ytd + v_amount WHERE w_id = p_w
  RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip
  INTO v_w_name, v_street_1, v_street_2, v_city, v_state, v_zip;
  UPDATE district SET d_ytd = d_ytd + v_amount WHERE d_w_id = p_w AND d_id = p_d
  RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip
  INTO v_d_name, v_street_1, v_street_2, v_city, v_state, v_zip;
  IF p_by_name = 1 THEN
[!name-row-off]     SELECT (array_agg(c_id ORDER BY c_first))[(count(*) + 1) / 2] INTO v_c
[name-row-off]     SELECT (array_agg(c_id ORDER BY c_first))[count(*) / 2] INTO v_c
    FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_last;
  END IF;
  p_balance := 0;
  IF v_c IS NULL THEN
-- No customer was fetched: the number that came along is taken, and no balance was read.
    v_c := p_c;
  ELSE
    SELECT c_balance, c_credit, c_data INTO p_balance, v_credit, v_data FROM customer
    WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c
[!unlocked-reads]     FOR UPDATE
    ;
  END IF;
  p_balance := p_balance - v_amount;
  IF v_credit = 'BC' THEN
    v_data := left(concat_ws(' ', v_c, p_c_d, p_c_w, p_d, p_w, v_amount) || '|' || v_data, 500);
    UPDATE customer SET c_balance = p_balance, c_data = v_data
[!missing-counters]     , c_ytd_payment = c_ytd_payment + v_amount, c_payment_cnt = c_payment_cnt + 1
    WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c;
  ELSE
    UPDATE customer SET c_balance = p_balance
[!missing-counters]     , c_ytd_payment = c_ytd_payment + v_amount, c_payment_cnt = c_payment_cnt + 1
    WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c;
  END IF;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
  VALUES (v_c, p_c_d, p_c_w, p_d, p_w, CURRENT_TIMESTAMP, v_amount, v_w_name || '    ' || v_d_name);
[subtransactions] EXCEPTION WHEN serialization_failure OR deadlock_detected OR no_data_found THEN RAISE;
END $$

== delivery
[function] CREATE FUNCTION
[procedure] CREATE PROCEDURE
tproc.delivery(p_w int, p_carrier int,
[function] OUT p_delivered int)
[procedure] INOUT p_delivered int)
LANGUAGE plpgsql AS $$
DECLARE
  v_districts int[]; v_orders int[]; v_customers int[]; v_amounts numeric[];
BEGIN
-- The order that waits longest in each district, in the order of districts; one that another delivery has taken
-- meanwhile is passed over for the next.
  SELECT array_agg(d), array_agg(no_o_id) INTO v_districts, v_orders
  FROM generate_series(1, 10) d CROSS JOIN LATERAL (
    SELECT no_o_id FROM new_order WHERE no_w_id = p_w AND no_d_id = d ORDER BY no_o_id LIMIT 1 FOR UPDATE) oldest;
  p_delivered := coalesce(array_length(v_districts, 1), 0);
  DELETE FROM new_order USING unnest(v_districts, v_orders) oldest(d, o)
  WHERE no_w_id = p_w AND no_d_id = d AND no_o_id = o;
  WITH delivered AS (
    UPDATE orders SET o_carrier_id = p_carrier FROM unnest(v_districts, v_orders) oldest(d, o)
    WHERE o_w_id = p_w AND o_d_id = d AND o_id = o RETURNING o_d_id, o_c_id)
  SELECT array_agg(o_c_id ORDER BY o_d_id) INTO v_customers FROM delivered;
  WITH delivered AS (
    UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP FROM unnest(v_districts, v_orders) oldest(d, o)
    WHERE ol_w_id = p_w AND ol_d_id = d AND ol_o_id = o RETURNING ol_d_id, ol_amount)
  SELECT array_agg(amount ORDER BY ol_d_id) INTO v_amounts
  FROM (SELECT ol_d_id, coalesce(sum(ol_amount), 0) AS amount FROM delivered GROUP BY ol_d_id) amounts;
  UPDATE customer SET c_balance = c_balance + amount
[!missing-counters]   , c_delivery_cnt = c_delivery_cnt + 1
  FROM unnest(v_districts, v_customers, v_amounts) delivered(d, c, amount)
  WHERE c_w_id = p_w AND c_d_id = d AND c_id = c;
[subtransactions] EXCEPTION WHEN serialization_failure OR deadlock_detected OR no_data_found THEN RAISE;
END $$

== order_status
[function] CREATE FUNCTION
[procedure] CREATE PROCEDURE
tproc.order_status(p_w int, p_d int, p_c int, p_by_name int, p_last text,
[function] OUT p_order text)
[procedure] INOUT p_order text)
LANGUAGE plpgsql AS $$
DECLARE
  v_c int := p_c; v_customer text; v_o int; v_carrier int; v_entry timestamptz;
BEGIN
  IF p_by_name = 1 THEN
[!name-row-off]     SELECT (array_agg(c_id ORDER BY c_first))[(count(*) + 1) / 2] INTO v_c
[name-row-off]     SELECT (array_agg(c_id ORDER BY c_first))[(count(*) + 1) / 2 + 1] INTO v_c
    FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_last;
  END IF;
  SELECT concat_ws(' ', c_first, c_middle, c_last, c_balance) INTO v_customer FROM customer
  WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = v_c;
  SELECT o_id, o_carrier_id, o_entry_d INTO v_o, v_carrier, v_entry FROM orders
  WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = v_c ORDER BY o_id DESC LIMIT 1;
  SELECT concat_ws(' ', v_customer, v_o, v_carrier, v_entry,
                   string_agg(concat_ws(' ', ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d), ','))
  INTO p_order FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = v_o;
[subtransactions] EXCEPTION WHEN serialization_failure OR deadlock_detected OR no_data_found THEN RAISE;
END $$

== stock_level
[function] CREATE FUNCTION
[procedure] CREATE PROCEDURE
tproc.stock_level(p_w int, p_d int, p_threshold int,
[function] OUT p_low bigint)
[procedure] INOUT p_low bigint)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT count(DISTINCT s_i_id) INTO p_low FROM district, order_line, stock
  WHERE d_w_id = p_w AND d_id = p_d AND ol_w_id = p_w AND ol_d_id = p_d
  AND ol_o_id < d_next_o_id AND ol_o_id >= d_next_o_id - 20
  AND s_w_id = p_w AND s_i_id = ol_i_id AND s_quantity < p_threshold;
[function subtransactions] EXCEPTION WHEN serialization_failure OR deadlock_detected OR no_data_found THEN RAISE;
END $$
