using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Host.Telemetry;

/// <summary>Forms of the log on standard output.</summary>
internal enum LogFormat
{
    /// <summary>Lines for people.</summary>
    Text,

    /// <summary>JSON lines for collectors.</summary>
    Json,
}

/// <summary>The section <c>telemetry</c>.</summary>
internal sealed record TelemetryConfig : SettingsRecord
{
    [Setting("Where traces and metrics are sent to, over OTLP: gRPC, or HTTP where the port is 4318; nowhere by default.")]
    public string? Otlp { get; init; }

    [Setting("Whether the host keeps the counters that /api/metrics shows.")]
    public bool Counters { get; init; } = true;

    [Setting("The least that is logged.")]
    public LogLevel LogLevel { get; init; } = LogLevel.Information;

    [Setting("How the log on standard output is written: as lines of text, or as one JSON object a line.")]
    public LogFormat LogFormat { get; init; }

    [Setting(
        "A folder for the log in files, beside what goes to standard output: one for each endpoint, and host.log for the rest; none "
            + "by default. Each host needs its own.",
        IsPath = true
    )]
    public string? LogFolder { get; init; }

    [Setting("How large each of these files becomes; four older ones are kept beside it.", Range = "1KiB..1GiB")]
    public ByteSize LogFileSize { get; init; } = ByteSize.MiB(16);
}
