using System.Collections.Concurrent;
using System.Text.Json;

namespace Esb.IntegrationTests.Faults.Farm;

/// <summary>Asks a host again and again how an endpoint stands, and keeps every change.</summary>
internal sealed class EndpointWatch(FarmHost host, string endpoint)
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(100);

    private readonly ConcurrentQueue<(long At, EndpointLook Look)> _changes = new();

    /// <summary>What was seen, as long as it was another than before.</summary>
    public IReadOnlyList<EndpointLook> Looks => [.. _changes.Select(change => change.Look)];

    /// <summary>The longest time from the first look at which it did not run to the first at which it ran again; of one that never came
    /// back, until now.</summary>
    public TimeSpan LongestAway
    {
        get
        {
            var (longest, since) = (TimeSpan.Zero, (long?)null);
            foreach (var (at, look) in _changes.Append((TimeProvider.System.GetTimestamp(), EndpointLook.Running)))
            {
                if (!look.IsRunning)
                    since ??= at;
                else if (since is { } away)
                    (longest, since) = (
                        TimeSpan.FromTicks(Math.Max(longest.Ticks, TimeProvider.System.GetElapsedTime(away, at).Ticks)),
                        null
                    );
            }

            return longest;
        }
    }

    /// <summary>Looks until it is stopped.</summary>
    public async Task RunAsync(CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            var look = await LookAsync();
            if (_changes.IsEmpty || _changes.Last().Look != look)
                _changes.Enqueue((TimeProvider.System.GetTimestamp(), look));
            await Task.Delay(Interval, CancellationToken.None);
        }
    }

    private async Task<EndpointLook> LookAsync()
    {
        var status = await host.Process.AskAsync($"/api/endpoints/{endpoint}", CancellationToken.None);
        var reason = status.TryGetProperty("reason", out var value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;
        return new EndpointLook(status.GetProperty("state").GetString()!, reason, status.GetProperty("stuck").GetInt32());
    }
}
