using Esb.Core.Alerts;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Workflows.Workflows.Compiling;

/// <summary>Warns of steps that wait for messages which nothing in the configuration publishes.</summary>
/// <remarks>Over a broker other configurations and applications may publish anything, so that nothing can be told.</remarks>
internal sealed class SilenceCheck(
    ProcessModels processes,
    IEnumerable<EndpointConfig> endpoints,
    TransportConfig transport,
    ConfigErrors errors
)
{
    /// <param name="steps">The steps of all workflows.</param>
    public void Check(IReadOnlyList<StepModel> steps)
    {
        if (transport.SpansHosts)
            return;
        var published = endpoints
            .OfType<InboundEndpointConfig>()
            .Select(endpoint => endpoint.Publish)
            .OfType<Subject>()
            .Select(Pattern)
            .Concat(processes.Steps.Concat(steps).SelectMany(step => PublishedBy(step.Traits)))
            .ToHashSet();
        foreach (var step in steps)
        {
            var subjects = step.Flow switch
            {
                ReceiveFlow receive => receive.Subjects,
                CollectFlow collect => collect.Subjects,
                _ => [],
            };
            if (subjects.Count == 0 || subjects.Any(subject => subject.Topic == IAlerts.Topic || published.Any(subject.Overlaps)))
                continue;
            errors.Warn(
                "ESB-WFL-SILENCE",
                $"{step.Path}.subscribe",
                $"waits for {string.Join(", ", subjects)}, which no endpoint, process or workflow of this configuration publishes",
                step.Origin
            );
        }
    }

    private static IEnumerable<SubjectPattern> PublishedBy(StepTraits traits) =>
        traits.Publishes.Concat(traits.Requests).Select(Pattern).Concat(traits.MayPublish);

    private static SubjectPattern Pattern(Subject subject) => new(subject.Value);
}
