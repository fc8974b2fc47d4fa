using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Checks;

/// <summary>Rejects endpoints whose processes pass messages to one another in a circle, by topics or by calls. Each circle is reported
/// once.</summary>
/// <remarks>The <c>filter</c> of an endpoint may drop returning messages; such circles are left to the hop limit.</remarks>
internal sealed class CircleCheck(ProcessModels processes, IReadOnlyList<OutboundEndpointConfig> endpoints)
{
    public void Check(ConfigErrors errors)
    {
        var reported = new HashSet<OutboundEndpointConfig>();
        foreach (var endpoint in endpoints.Where(candidate => candidate.Processes.Count > 0 && !reported.Contains(candidate)))
        {
            if (CircleOf(endpoint) is not { } circle)
                continue;
            reported.UnionWith(circle);
            errors.Add(
                "ESB-CFG-LOOP",
                endpoint.Path,
                $"its process hands messages back to it: {string.Join(" → ", circle.Append(endpoint).Select(member => member.Name))}",
                endpoint.Origin
            );
        }
    }

    // The shortest path back, breadth first; null if there is no circle.
    private List<OutboundEndpointConfig>? CircleOf(OutboundEndpointConfig start)
    {
        var came = new Dictionary<OutboundEndpointConfig, OutboundEndpointConfig>();
        var open = new Queue<OutboundEndpointConfig>([start]);
        while (open.TryDequeue(out var endpoint))
        {
            foreach (var next in NextOf(endpoint))
            {
                if (next == start)
                    return WayTo(endpoint, start, came);
                if (came.TryAdd(next, endpoint))
                    open.Enqueue(next);
            }
        }

        return null;
    }

    private IEnumerable<OutboundEndpointConfig> NextOf(OutboundEndpointConfig endpoint)
    {
        var subjects = endpoint.Processes.SelectMany(processes.PublishedBy).ToHashSet();
        var called = endpoint.Processes.SelectMany(processes.CalledBy).ToHashSet();
        return endpoints.Where(next =>
            called.Contains(next.Name)
            || (next.Filter is null && next.Subscribe.Any(pattern => subjects.Any(subject => pattern.Matches(subject.Value))))
        );
    }

    private static List<OutboundEndpointConfig> WayTo(
        OutboundEndpointConfig end,
        OutboundEndpointConfig start,
        Dictionary<OutboundEndpointConfig, OutboundEndpointConfig> came
    )
    {
        var way = new List<OutboundEndpointConfig> { end };
        while (way[0] != start)
            way.Insert(0, came[way[0]]);
        return way;
    }
}
