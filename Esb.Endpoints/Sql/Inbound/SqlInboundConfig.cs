using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Sql.Inbound;

/// <summary>An endpoint that takes rows out of a table and marks or deletes them in the same transaction.</summary>
public sealed record SqlInboundConfig : InboundEndpointConfig
{
    private const string SkipLocked = "skip locked";

    /// <summary>The database.</summary>
    [Setting("The database, one of connections.", Reference = "connections")]
    public required string Connection { get; init; }

    /// <summary>The query that finds the rows to take.</summary>
    [Setting(
        "The query for the rows to take, with a limit. It finds a row until \"after\" has marked or deleted it.",
        UnknownReferenceCode = "ESB-SQL-DYNAMIC"
    )]
    public required string Query { get; init; }

    /// <summary>The command that marks or deletes a taken row.</summary>
    [Setting(
        "The command that marks or deletes a row that was taken, once for each row, in the transaction of the query; @name is the "
            + "row's column of that name.",
        UnknownReferenceCode = "ESB-SQL-DYNAMIC"
    )]
    public required string After { get; init; }

    /// <summary>The pause after a poll that found fewer rows than the one before.</summary>
    [Setting("How often the query is run.", Range = "100ms..24h")]
    public TimeSpan Interval { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>The most rows of a message; null for a message for each row.</summary>
    [Setting(
        "The most rows of one message, which is then an array of rows; by default each row is a message of its own.",
        Range = "1..10000"
    )]
    public int? Batch { get; init; }

    /// <summary>The format of the rows.</summary>
    [Setting("In which form a message has its row or rows.")]
    public RowsFormat As { get; init; }

    /// <summary>True if a poll that found rows is followed by another at once.</summary>
    [Setting("Whether the query is run again at once as long as it finds rows.")]
    public bool WhileFound { get; init; } = true;

    /// <summary>The columns that identify a row; empty for the first column.</summary>
    [Setting("The columns that identify a row: message ids are derived from them; by default the first column.", TakesOne = true)]
    public IReadOnlyList<string> Key { get; init; } = [];

    /// <inheritdoc/>
    /// <remarks>False for a query that skips locked rows: its hosts share the rows.</remarks>
    [Setting("Whether only one host of the farm at a time runs the query; all do if the query says skip locked.")]
    public override bool SingleInstance
    {
        get => field && Query?.Contains(SkipLocked, StringComparison.OrdinalIgnoreCase) != true;
        init;
    } = true;

    /// <summary>One: a poll is one transaction.</summary>
    public override int? CallsAtOnce => 1;

    /// <inheritdoc/>
    public override IReadOnlyList<string> AddressPaths => [$"{Path}.connection"];

    /// <inheritdoc/>
    public override bool TakesInTransaction => Publish is not null;

    /// <summary>The connections whose outbox the enabled endpoints of this type use.</summary>
    internal static IEnumerable<string> OutboxesOf(EndpointModels endpoints) =>
        endpoints
            .Inbound.Select(model => model.Config)
            .OfType<SqlInboundConfig>()
            .Where(endpoint => endpoint is { Enabled: true, Publish: not null })
            .Select(endpoint => endpoint.Connection);
}
