-- One event: a hundred random rows by primary key, prepared, as rqps's test random-points_range=100 sends them.
sysbench.cmdline.options = {
   tables = {"Number of tables", 1},
   table_size = {"Rows of the table", 10000},
}

local points = 100

function thread_init()
   connection = sysbench.sql.driver():connect()
   local marks = string.rep("?,", points - 1) .. "?"
   statement = connection:prepare("SELECT c FROM sbtest1 WHERE id IN (" .. marks .. ")")
   ids = {}
   for i = 1, points do
      ids[i] = statement:bind_create(sysbench.sql.type.INT)
   end
   statement:bind_param(unpack(ids))
end

function event()
   for i = 1, points do
      ids[i]:set(sysbench.rand.uniform(1, sysbench.opt.table_size))
   end
   statement:execute()
end

function thread_done()
   statement:close()
   connection:disconnect()
end
