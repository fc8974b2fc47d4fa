using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Workflows.Processes.Checks;

/// <summary>Checks the interaction of processes, topics and endpoints: messages that return to their source, and requests with no endpoint
/// or several endpoints to answer them.</summary>
/// <param name="processes">All processes.</param>
/// <param name="endpoints">All endpoints that could be read, including partially read ones.</param>
/// <param name="lost">The nodes that could not be read as endpoints.</param>
internal sealed class ExchangeCheck(ProcessModels processes, IEnumerable<EndpointConfig> endpoints, IEnumerable<ConfigNode> lost)
{
    public void Check(ConfigErrors errors)
    {
        foreach (var step in processes.Steps)
        {
            foreach (var subject in step.Traits.Requests)
                RefuseUnanswered(subject, step.Path, step.Origin, errors);
        }

        foreach (var inbound in endpoints.OfType<InboundEndpointConfig>())
        {
            if (inbound is { Publish: { } subject, Mode: ExchangePattern.RequestReply })
                RefuseUnanswered(subject, inbound.Path, inbound.Origin, errors);
            RefuseLoop(inbound, errors);
        }

        new CircleCheck(processes, [.. endpoints.OfType<OutboundEndpointConfig>()]).Check(errors);
    }

    private void RefuseUnanswered(Subject subject, string path, ConfigOrigin origin, ConfigErrors errors)
    {
        var answering = endpoints
            .OfType<OutboundEndpointConfig>()
            .Where(endpoint =>
                endpoint is { Answers: true, Enabled: true } && endpoint.Subscribe.Any(pattern => pattern.Matches(subject.Value))
            )
            .Select(endpoint => endpoint.Name)
            .ToList();
        if (answering.Count == 0 && MightBeAnswered(subject))
            return;
        if (answering.Count != 1)
            errors.Add(
                "ESB-CFG-REQUEST",
                path,
                $"a request needs exactly one endpoint that answers '{subject}', found "
                    + $"{(answering.Count == 0 ? "none" : string.Join(" and ", answering))}",
                origin
            );
    }

    // True if an endpoint that was itself rejected might answer; it is not reported as missing as well.
    private bool MightBeAnswered(Subject subject) =>
        lost.Any(endpoint => MightSubscribe(endpoint, subject))
        || endpoints
            .OfType<OutboundEndpointConfig>()
            .Any(endpoint =>
                !endpoint.IsWhole && (!endpoint.IsSound("subscribe") || endpoint.Subscribe.Any(pattern => pattern.Matches(subject.Value)))
            );

    private static bool MightSubscribe(ConfigNode endpoint, Subject subject) =>
        endpoint.Kind != ConfigKind.Object
        || endpoint["subscribe"]?.Items.Any(pattern => SubjectPattern.Parse(pattern.Text)?.Matches(subject.Value) != false) == true;

    // A loop: an outbound endpoint writes the published messages to the address that the inbound endpoint reads.
    private void RefuseLoop(InboundEndpointConfig inbound, ConfigErrors errors)
    {
        if (inbound.Address is not { } address)
            return;
        foreach (var outbound in endpoints.OfType<OutboundEndpointConfig>().Where(candidate => candidate.Address == address))
        {
            if (
                SubjectsOf(inbound).FirstOrDefault(subject => outbound.Subscribe.Any(pattern => pattern.Matches(subject.Value))) is
                { } subject
            )
                errors.Add(
                    "ESB-CFG-LOOP",
                    outbound.Path,
                    $"writes '{subject}' to where {inbound.Name} reads it and publishes it again",
                    outbound.Origin
                );
        }
    }

    // Includes the subjects under which the processes of subscribing endpoints publish again.
    private HashSet<Subject> SubjectsOf(InboundEndpointConfig inbound)
    {
        var subjects = new HashSet<Subject>();
        var added = new Queue<Subject>(
            inbound.Publish is { } published ? [published] : inbound.Processes.SelectMany(processes.PublishedBy)
        );
        while (added.TryDequeue(out var subject))
        {
            if (!subjects.Add(subject))
                continue;
            foreach (
                var endpoint in endpoints
                    .OfType<OutboundEndpointConfig>()
                    .Where(candidate => candidate.Subscribe.Any(pattern => pattern.Matches(subject.Value)))
            )
            {
                foreach (var next in endpoint.Processes.SelectMany(processes.PublishedBy))
                    added.Enqueue(next);
            }
        }

        return subjects;
    }
}
