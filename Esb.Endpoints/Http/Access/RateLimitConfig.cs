using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.Http.Access;

/// <summary>The rate limit of a party at an endpoint, per host; callers without a party share one limit.</summary>
internal sealed record RateLimitConfig : SettingsRecord
{
    [Setting("Calls in the time of \"per\", spread evenly.", Range = "1..1000000")]
    public required int Calls { get; init; }

    [Setting("The time.", Range = "1s..24h")]
    public TimeSpan Per { get; init; } = TimeSpan.FromSeconds(1);

    [Setting("Calls that may come at once, after a pause; by default as many as \"calls\".", Range = "1..1000000")]
    public int? Burst { get; init; }
}
