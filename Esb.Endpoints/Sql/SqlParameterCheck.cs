using Esb.Core.Configuration;

namespace Esb.Endpoints.Sql;

/// <summary>Checks parameters and isolation of a sql-outbound endpoint.</summary>
internal static class SqlParameterCheck
{
    /// <summary>Reports a parameter that has no value, a type that is none, or a direction that its command cannot have.</summary>
    public static void Check(SqlOutboundConfig config, string name, SqlParameterConfig parameter, ConfigErrors errors)
    {
        var path = $"{config.Path}.parameters.{name}";
        if (config.Procedure is null && parameter.Direction != SqlDirection.In && parameter.IsSound("direction"))
            errors.Add("ESB-CFG-VALUE", parameter, "direction", "only a procedure gives values back: expected in");
        if (parameter.Direction == SqlDirection.Out && parameter.HasValue)
            errors.Add("ESB-CFG-VALUE", parameter, "direction", "a value that comes out has none before: expected in-out, or no value");
        if (parameter.Direction != SqlDirection.Out && !parameter.HasValue && parameter.IsWhole)
            errors.Add(
                "ESB-CFG-ONEOF",
                path,
                "expected exactly one of xpath, jsonpath, header, property, message, value, template",
                config.Origin
            );
        if (parameter.Type is { } type && parameter.IsSound("type") && !SqlProcedure.IsType(type))
            errors.Add("ESB-CFG-VALUE", parameter, "type", "expected the name of a type, such as uuid or numeric(9, 2)");
        if (config.Procedure is not null && !SqlProcedure.IsName(name))
            errors.Add("ESB-SQL-PARAM", path, "expected the name of a parameter of the procedure", config.Origin);
    }

    /// <summary>Reports an isolation level beside settings that need another.</summary>
    public static void CheckIsolation(SqlOutboundConfig config, ConfigErrors errors)
    {
        if (config.Isolation is null || !config.IsSound("isolation"))
            return;
        if (config.Batch is not null)
            errors.Add(
                "ESB-CFG-BATCH",
                config,
                "batch",
                "the messages of a batch share the transaction of the database's default: expected no isolation"
            );
        if (config.Isolation == SqlIsolation.ReadCommitted)
            return;
        const string records = "its records must see what others commit meanwhile: expected isolation read-committed";
        if (config.Once)
            errors.Add("ESB-CFG-ONCE", config, "once", records);
        if (config.SingleInstance)
            errors.Add("ESB-CFG-SINGLE", config, "singleInstance", records);
    }
}
