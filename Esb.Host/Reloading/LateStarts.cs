namespace Esb.Host.Reloading;

/// <summary>Follows the endpoints that an exchange has changed until they have started on some host, or cannot: a single-instance endpoint
/// starts late, on the host that gets its lease. Thread-safe.</summary>
internal sealed class LateStarts(StartFailures starts, OtherHosts others, TimeProvider time)
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(100);

    private volatile Committed? _last;

    /// <summary>Notes what an exchange changes; that of the exchange before is forgotten.</summary>
    public void Begin(Guid exchange, PreparedExchange prepared) =>
        _last = new Committed(exchange, prepared.Next is null ? [] : [.. prepared.Changes.Changed]);

    /// <summary>Progress on this host; known for the last exchange only.</summary>
    public StartsKnown Of(Guid exchange) =>
        _last is { } last && last.Exchange == exchange ? starts.Look(last.Changed) : StartsKnown.Nothing;

    /// <inheritdoc cref="StartFailures.Of"/>
    public IReadOnlyList<string> Now(PreparedExchange prepared, IReadOnlyList<string> parts) => starts.Of(prepared, parts);

    /// <summary>Waits until every changed endpoint has started on some host, one cannot start, or the time limit is reached.</summary>
    /// <returns>A line for each endpoint that cannot start or did not in time; empty if all started, or the host stops.</returns>
    public async Task<IReadOnlyList<string>> AwaitAsync(Guid exchange, CancellationToken stopping)
    {
        var known = Of(exchange);
        try
        {
            var began = time.GetTimestamp();
            while (known.Failures.Count == 0 && (known.IsPending || known.AreElsewhere))
            {
                await Task.Delay(Look, time, stopping);
                known = StartsKnown.Of([Of(exchange), .. await others.LookAsync(exchange, stopping)]);
                if (time.GetElapsedTime(began) >= Longest)
                    return
                    [
                        .. known.Failures,
                        .. known.Starting.Select(name =>
                            $"endpoint {name} cannot start: it did not start within {Longest.TotalSeconds:0} s"
                        ),
                    ];
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            return []; // the host stops, and the revision stays
        }

        return known.Failures;
    }

    private sealed record Committed(Guid Exchange, HashSet<string> Changed);
}
