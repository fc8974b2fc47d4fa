using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Endpoints.Sql.Batches;

namespace Esb.Endpoints.Sql;

/// <summary>The format of the rows of a query.</summary>
public enum RowsFormat
{
    /// <summary>An array of objects.</summary>
    Json,

    /// <summary>An element <c>rows</c> with a <c>row</c> for each row, and in it an element for each value; none for null.</summary>
    Xml,
}

/// <summary>An endpoint that runs a database command for each message.</summary>
[ExactlyOne("query", "execute", "procedure")]
public sealed record SqlOutboundConfig : OutboundEndpointConfig
{
    /// <summary>The database.</summary>
    [Setting("The database, one of connections.", Reference = "connections")]
    public required string Connection { get; init; }

    /// <summary>A command that returns rows as its answer.</summary>
    [Setting("A command whose rows are the answer. Values of messages come in as @name only.", UnknownReferenceCode = "ESB-SQL-DYNAMIC")]
    public string? Query { get; init; }

    /// <summary>A command without an answer.</summary>
    [Setting("A command that gives no answer. Values of messages come in as @name only.", UnknownReferenceCode = "ESB-SQL-DYNAMIC")]
    public string? Execute { get; init; }

    /// <summary>A stored procedure.</summary>
    [Setting(
        "A stored procedure to call, such as shop.close_order; its result sets and output values are the answer.",
        UnknownReferenceCode = "ESB-SQL-DYNAMIC"
    )]
    public string? Procedure { get; init; }

    /// <summary>The values bound to the command.</summary>
    [Setting(
        "The value of each @name in the command, or of each parameter of the procedure. Bound without a type, as a quoted literal: "
            + "the database takes it as its column needs it, unless it names a type."
    )]
    public IReadOnlyDictionary<string, SqlParameterConfig> Parameters { get; init; } = new Dictionary<string, SqlParameterConfig>();

    /// <summary>The isolation level; null for the database's default.</summary>
    [Setting(
        "The isolation level of the command's transaction; by default that of the database. An endpoint with another level than "
            + "read-committed takes no part in a step transaction."
    )]
    public SqlIsolation? Isolation { get; init; }

    /// <summary>Parameters that are null if a message has no value for them.</summary>
    [Setting("Parameters that are null where a message has no value for them; for all others that is an error.")]
    public IReadOnlyList<string> Optional { get; init; } = [];

    /// <summary>The format of the rows.</summary>
    [Setting("In which form the rows of a query are answered.")]
    public RowsFormat As { get; init; }

    /// <summary>The maximum number of rows of an answer.</summary>
    [Setting("The most rows that an answer may have; more are an error.", Range = "1..10000000")]
    public int MaxRows { get; init; } = 10_000;

    /// <summary>Lets messages share a round trip and a commit; each is acknowledged only after it. Null for no batches.</summary>
    [Setting(
        "Lets messages that are delivered at once share a round trip and a commit. Each is acknowledged only after it; one that the "
            + "database refuses fails alone. With delivery parallel and execute only."
    )]
    public SqlBatchConfig? Batch { get; init; }

    /// <inheritdoc/>
    public override bool Answers => Execute is null;

    /// <inheritdoc/>
    public override bool CanBeOnce => Execute is not null;

    /// <inheritdoc/>
    public override string? Database => Isolation is null or SqlIsolation.ReadCommitted ? Connection : null;

    /// <inheritdoc/>
    public override IEnumerable<PropertyUse> PropertyUses =>
        from parameter in Parameters
        where !Optional.Contains(parameter.Key) && parameter.Value.Direction != SqlDirection.Out
        from name in PropertyNames.Of(parameter.Value.Source)
        select new PropertyUse($"parameters.{parameter.Key}", name);

    /// <inheritdoc/>
    public override IReadOnlyList<string> AddressPaths => [$"{Path}.connection"];
}
