using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.Http.Access;

/// <summary>How many calls a party may make at an endpoint, on each host; callers without a party share one allowance.</summary>
internal sealed record RateLimitConfig : SettingsRecord
{
    [Setting("Calls in the time of \"per\", spread evenly.", Range = "1..1000000")]
    public required int Calls { get; init; }

    [Setting("The time.", Range = "1s..24h")]
    public TimeSpan Per { get; init; } = TimeSpan.FromSeconds(1);

    [Setting("Calls that may come at once, after a pause; by default as many as \"calls\".", Range = "1..1000000")]
    public int? Burst { get; init; }
}
