using System.Globalization;

namespace Esb.IntegrationTests.Faults.Soak;

/// <summary>How long a soak lasts, and how much comes meanwhile.</summary>
/// <param name="Time">Of each part (<c>ESB_SOAK_MINUTES</c>; 4 by default).</param>
/// <param name="Rate">Messages, and as many calls, per second (<c>ESB_SOAK_RATE</c>; 60 by default).</param>
internal sealed record SoakSize(TimeSpan Time, int Rate)
{
    private static readonly TimeSpan ShortestWarmUp = TimeSpan.FromMinutes(1);

    /// <summary>What is not measured: code is compiled, and pools and the heap find their size.</summary>
    public TimeSpan WarmUp => Time / 4 > ShortestWarmUp ? Time / 4 : ShortestWarmUp;

    /// <summary>Between two looks; some hundred in all.</summary>
    public TimeSpan Interval => TimeSpan.FromSeconds(Math.Clamp(Time.TotalSeconds / 200, 1, 10));

    public static SoakSize OfEnvironment() => new(TimeSpan.FromMinutes(Read("MINUTES", 4)), (int)Read("RATE", 60));

    private static double Read(string name, double usual) =>
        Environment.GetEnvironmentVariable($"ESB_SOAK_{name}") is { Length: > 0 } value
            ? double.Parse(value, CultureInfo.InvariantCulture)
            : usual;
}
