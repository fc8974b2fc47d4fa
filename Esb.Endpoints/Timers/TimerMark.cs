using System.Globalization;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Endpoints.Timers;

/// <summary>The durable record of the last tick of a timer, under which it resumes after a restart or on another host. Used by one instance
/// at a time.</summary>
/// <remarks>The record names the rule: under another rule the timer begins anew, so that a changed rule has no missed ticks.</remarks>
internal sealed class TimerMark(string endpoint, TimerRule rule, IEndpointMarks marks)
{
    private const string Name = "last-tick";

    /// <summary>Reads the last tick; null if this rule has none.</summary>
    /// <exception cref="EsbException">The store is unreachable.</exception>
    public async Task<DateTimeOffset?> FindAsync(CancellationToken cancellationToken)
    {
        if (await marks.FindAsync(endpoint, Name, cancellationToken) is not { } stored)
            return null;
        var parts = stored.Split(' ', 2);
        return
            parts.Length == 2
            && parts[1] == rule.Text
            && DateTimeOffset.TryParseExact(parts[0], "O", CultureInfo.InvariantCulture, DateTimeStyles.None, out var last)
            ? last
            : null;
    }

    /// <summary>Stores the last tick.</summary>
    /// <exception cref="EsbException">The store is unreachable.</exception>
    public Task KeepAsync(DateTimeOffset tick, CancellationToken cancellationToken) =>
        marks.KeepAsync(
            endpoint,
            Name,
            $"{tick.ToUniversalTime().ToString("O", CultureInfo.InvariantCulture)} {rule.Text}",
            keep: null,
            cancellationToken
        );
}
