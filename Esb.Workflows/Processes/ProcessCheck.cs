using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Workflows.Processes.Steps;

namespace Esb.Workflows.Processes;

/// <summary>Checks what processes, topics and endpoints only show together: circles, and requests that nobody or more than one would answer.</summary>
internal sealed class ProcessCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    private readonly IReadOnlyDictionary<string, IReadOnlyList<StepConfig>> _processes = configuration.Named<IReadOnlyList<StepConfig>>("processes");
    private readonly IReadOnlyDictionary<string, EndpointConfig> _endpoints = configuration.Named<EndpointConfig>("endpoints");

    public void Check(ConfigErrors errors)
    {
        new ProcessCycles(_processes, errors).Check();
        foreach (var step in StepTree.Descend(_processes.Values.SelectMany(steps => steps)))
        {
            if (step.Settings is RequestConfig request) RefuseUnanswered(request.Subject, step.Path, step.Origin, errors);
        }

        foreach (var inbound in _endpoints.Values.OfType<InboundEndpointConfig>())
        {
            if (inbound is { Publish: { } subject, Mode: ExchangePattern.RequestReply }) RefuseUnanswered(subject, inbound.Path, inbound.Origin, errors);
            RefuseLoop(inbound, errors);
        }
    }

    private void RefuseUnanswered(Subject subject, string path, ConfigOrigin origin, ConfigErrors errors)
    {
        var answering = _endpoints.Values.OfType<OutboundEndpointConfig>()
            .Where(endpoint => endpoint is { Answers: true, Enabled: true } && endpoint.Subscribe.Any(pattern => pattern.Matches(subject.Value)))
            .Select(endpoint => endpoint.Name)
            .ToList();
        if (answering.Count == 0 && MightBeAnswered(subject)) return;
        if (answering.Count != 1)
            errors.Add("ESB-CFG-REQUEST", path, $"a request needs exactly one endpoint that answers '{subject}', found {(answering.Count == 0 ? "none" : string.Join(" and ", answering))}", origin);
    }

    // By an endpoint that is there, but was refused: it is not reported as missing as well.
    private bool MightBeAnswered(Subject subject) =>
        configuration.Lost<EndpointConfig>("endpoints").Any(endpoint => MightSubscribe(endpoint, subject))
        || _endpoints.Values.OfType<OutboundEndpointConfig>()
            .Any(endpoint => !endpoint.IsWhole && (!endpoint.IsSound("subscribe") || endpoint.Subscribe.Any(pattern => pattern.Matches(subject.Value))));

    private static bool MightSubscribe(ConfigNode endpoint, Subject subject) =>
        endpoint.Kind != ConfigKind.Object || endpoint["subscribe"]?.Items.Any(pattern => SubjectPattern.Parse(pattern.Text)?.Matches(subject.Value) != false) == true;

    // What an endpoint takes in is published, delivered by an outbound endpoint, and written where the first one reads.
    private void RefuseLoop(InboundEndpointConfig inbound, ConfigErrors errors)
    {
        if (inbound.Address is not { } address) return;
        foreach (var outbound in _endpoints.Values.OfType<OutboundEndpointConfig>().Where(candidate => candidate.Address == address))
        {
            if (SubjectsOf(inbound).FirstOrDefault(subject => outbound.Subscribe.Any(pattern => pattern.Matches(subject.Value))) is { } subject)
                errors.Add("ESB-CFG-LOOP", outbound.Path, $"writes '{subject}' to where {inbound.Name} reads it and publishes it again", outbound.Origin);
        }
    }

    private IEnumerable<Subject> SubjectsOf(InboundEndpointConfig inbound)
    {
        if (inbound.Publish is { } published) yield return published;
        if (inbound.Process is null) yield break;
        foreach (var subject in SubjectsOf(inbound.Process, seen: [])) yield return subject;
    }

    private IEnumerable<Subject> SubjectsOf(string process, HashSet<string> seen)
    {
        if (!seen.Add(process) || !_processes.TryGetValue(process, out var steps)) return [];
        return StepTree.Descend(steps).SelectMany(step => step.Settings switch
        {
            IPublishes publishes => [publishes.Subject],
            RunConfig run => SubjectsOf(run.Process, seen),
            _ => [],
        });
    }
}
