-- The gate's policy for plain jobs in Lua, as a site would write it today: is a container asked for, in what the client
-- forwarded, in the environment, or in the script? For comparison only.
local asks = { "_SLURM_SPANK_OPTION_pyxis_container_image", "_SLURM_SPANK_OPTION_pyxis_container_name",
               "PYXIS_CONTAINER_IMAGE", "PYXIS_CONTAINER_NAME" }

local function open()
    local file = io.open("/run/llmgw-slurm/gate", "r")
    if file == nil then return false end
    local text = file:read("*a")
    file:close()
    return text:find("\nstate open\n", 1, true) ~= nil
end

function slurm_job_submit(job, partitions, uid)
    local wanted = false
    for _, name in ipairs(asks) do
        if job.environment ~= nil and job.environment[name] ~= nil and job.environment[name] ~= "" then wanted = true end
        for _, entry in pairs(job.spank_job_env or {}) do
            if entry:sub(1, #name + 1) == name .. "=" then wanted = true end
        end
    end
    if not wanted and job.script ~= nil then wanted = job.script:find("--container-", 1, true) ~= nil end
    if wanted and not open() then
        slurm.log_user("containers are not ready on this cluster")
        return slurm.ERROR
    end
    return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, uid)
    return slurm.SUCCESS
end

return slurm.SUCCESS
