-- For `data.only`: one order has another total, which the check of answers must find.
UPDATE orders SET total = 1.23 WHERE id = 4711;
