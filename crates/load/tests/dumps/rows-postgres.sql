-- A few rows of our own for the tables of Pagila, and objects that break other loaders.
BEGIN;
ALTER TABLE public.store DISABLE TRIGGER ALL;
ALTER TABLE public.staff DISABLE TRIGGER ALL;
INSERT INTO public.language (name) VALUES ('English'), ('Français');
INSERT INTO public.category (name) VALUES ('Action'), ('Drama; slow');
INSERT INTO public.actor (first_name, last_name) SELECT 'First' || n, 'O''Last' || n FROM generate_series(1, 20) n;
INSERT INTO public.country (country) VALUES ('Deutschland'), ('日本');
INSERT INTO public.city (city, country_id) VALUES ('Köln', 1), ('東京', 2);
INSERT INTO public.address (address, district, city_id, phone) SELECT n || E' Main\tStreet\\', '', 1 + n % 2, '0' FROM generate_series(1, 10) n;
INSERT INTO public.store (manager_staff_id, address_id) VALUES (1, 1), (2, 2);
INSERT INTO public.staff (first_name, last_name, address_id, store_id, username, picture)
VALUES ('Mike', 'Hill', 3, 1, 'mike', '\x00ff5c2e'), ('Jon', 'Stephens', 4, 2, 'jon', NULL);
INSERT INTO public.customer (store_id, first_name, last_name, address_id) SELECT 1 + n % 2, 'C' || n, 'D' || n, 5 + n % 5 FROM generate_series(1, 30) n;
INSERT INTO public.film (title, description, release_year, language_id, length, rating, special_features)
SELECT 'Film ' || n, E'A film\nof two lines; no. ' || n, 2000 + n, 1, 60 + n, 'PG-13', ARRAY['Trailers', 'Deleted "Scenes"'] FROM generate_series(1, 40) n;
INSERT INTO public.film_actor (actor_id, film_id) SELECT 1 + n % 20, n FROM generate_series(1, 40) n;
INSERT INTO public.film_category (film_id, category_id) SELECT n, 1 + n % 2 FROM generate_series(1, 40) n;
INSERT INTO public.inventory (film_id, store_id) SELECT n, 1 + n % 2 FROM generate_series(1, 40) n;
INSERT INTO public.rental (rental_date, inventory_id, customer_id, staff_id) SELECT timestamptz '2022-01-01 00:00:00+00' + n * interval '1 day', n, 1 + n % 30, 1 FROM generate_series(1, 40) n;
INSERT INTO public.payment (customer_id, staff_id, rental_id, amount, payment_date) SELECT 1 + n % 30, 1, n, n * 1.25, timestamptz '2022-01-01 00:00:00+00' + n * interval '2 days' FROM generate_series(1, 40) n;
ALTER TABLE public.store ENABLE TRIGGER ALL;
ALTER TABLE public.staff ENABLE TRIGGER ALL;
COMMIT;
REFRESH MATERIALIZED VIEW public.rental_by_category;
CREATE TABLE public.packages (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, about jsonb, during tstzrange);
INSERT INTO public.packages (about, during) VALUES ('{"name": "a\\b", "tags": [1, null]}', '[2022-01-01, 2022-02-01)');
CREATE FUNCTION public.told() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN NULL; END $$;
CREATE EVENT TRIGGER told ON ddl_command_end EXECUTE FUNCTION public.told();
CREATE FUNCTION public.twice(n integer) RETURNS integer LANGUAGE sql AS $_$ SELECT 2 * $1; $_$;
CREATE PUBLICATION films FOR TABLE public.film;
COMMENT ON PUBLICATION films IS 'all; of them';
CREATE ROLE app NOLOGIN;
GRANT SELECT ON public.film TO app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO app;
SELECT lo_from_bytea(4711, '\x00010203');
