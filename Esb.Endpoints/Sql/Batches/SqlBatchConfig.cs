using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.Sql.Batches;

/// <summary>Settings for messages that share a round trip to the database, and its commit.</summary>
public sealed record SqlBatchConfig : SettingsRecord
{
    /// <summary>The maximum number of messages of a batch.</summary>
    [Setting("The most messages of one batch. It never holds more than the smaller of poolSize and processingThreads.", Range = "2..1000")]
    public int Size { get; init; } = 100;

    /// <summary>The time that an incomplete batch waits for more messages.</summary>
    [Setting(
        "How long a batch that is not full waits for more messages. At 0ms it takes what has come while the batch before was under way.",
        Range = "0ms..1s"
    )]
    public TimeSpan Within { get; init; } = TimeSpan.Zero;
}
