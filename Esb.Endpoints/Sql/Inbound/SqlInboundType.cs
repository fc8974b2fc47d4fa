using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Delivery.Intake.Overload;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Sql.Inbound;

/// <summary>The type <c>sql-inbound</c>.</summary>
internal sealed class SqlInboundType(LimitsConfig limits) : InboundEndpointType<SqlInboundConfig>
{
    protected override CreateInbound? Compile(SqlInboundConfig settings, ConfigErrors errors)
    {
        if (settings.Relay is not null)
            errors.Add("ESB-CFG-VALUE", settings, "relay", "a row cannot be relayed: expected process or publish");
        if (settings.Mode == ExchangePattern.RequestReply)
            errors.Add("ESB-CFG-VALUE", settings, "mode", "a row has no caller that waits for an answer: expected one-way");
        var (query, after) = (SqlText.Parse(settings.Query), SqlText.Parse(settings.After));
        Check(settings, "query", query, errors);
        Check(settings, "after", after, errors);
        foreach (var name in query.Parameters)
            errors.Add("ESB-SQL-PARAM", settings, "query", $"@{name} has no value: a query that looks for rows has none");
        if (after.Parameters.Count == 0)
            errors.Add(
                "ESB-SQL-PARAM",
                settings,
                "after",
                "expected a condition on the row, such as \"where id = @id\": without one it changes other rows too"
            );
        return (services, intake) => Create(settings, query, after, services, intake);
    }

    private static void Check(SqlInboundConfig settings, string property, SqlText text, ConfigErrors errors)
    {
        if (!settings.IsSound(property))
            return;
        if (text.DynamicPart is { } part)
            errors.Add(
                "ESB-SQL-DYNAMIC",
                settings,
                property,
                $"{part} has no meaning here; expected a fixed command, in after with @name for a column of the row"
            );
        foreach (var name in text.Identifiers)
            errors.Add("ESB-SQL-IDENT", settings, property, $"@{name} stands for a table; expected its name");
        if (text.TransactionPart is { } control)
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                property,
                $"'{control}' would end the transaction; the statements are one transaction anyway"
            );
    }

    private SqlInboundEndpoint Create(
        SqlInboundConfig settings,
        SqlText query,
        SqlText after,
        IServiceProvider services,
        IMessageIntake intake
    )
    {
        var (time, loggers) = (services.GetRequiredService<TimeProvider>(), services.GetRequiredService<ILoggerFactory>());
        var admission = services.GetRequiredService<Admissions>().Of(settings, intake.NeedsTopics);
        var taker = new RowTaker(
            settings,
            query,
            after,
            services.GetRequiredService<DatabaseConnections>().Find(settings.Connection),
            services.GetRequiredService<ITransactions>(),
            intake,
            limits.MaxBodySize.Bytes,
            time,
            loggers.CreateLogger<RowTaker>()
        );
        return new SqlInboundEndpoint(
            settings,
            new RowDesk(settings, taker, admission, time, loggers.CreateLogger<RowDesk>()),
            admission,
            time
        );
    }
}
