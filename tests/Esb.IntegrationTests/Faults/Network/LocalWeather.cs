namespace Esb.IntegrationTests.Faults.Network;

/// <summary>What a <see cref="LocalProxy"/> does to its connections.</summary>
internal sealed record LocalWeather
{
    public static LocalWeather Fine { get; } = new();

    public TimeSpan Latency { get; init; }

    public TimeSpan Jitter { get; init; }

    public bool HoldsToServer { get; init; }

    public bool HoldsFromServer { get; init; }

    public bool Resets { get; init; }

    public long? BytesToServer { get; init; }

    public long? BytesFromServer { get; init; }
}
