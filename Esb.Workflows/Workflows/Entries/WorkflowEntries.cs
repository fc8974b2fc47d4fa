using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Workflows.Workflows.Entries;

/// <summary>Writes endpoints that start a workflow as processes of one step: they are compiled, checked and run as such.</summary>
internal static class WorkflowEntries
{
    public static IEnumerable<KeyValuePair<string, IReadOnlyList<StepConfig>>> Of(IEnumerable<EndpointConfig> endpoints) =>
        endpoints
            .OfType<InboundEndpointConfig>()
            .Where(endpoint => endpoint.Workflow is not null)
            .Select(endpoint =>
                KeyValuePair.Create<string, IReadOnlyList<StepConfig>>(
                    endpoint.EntryProcess!,
                    [
                        new StepConfig
                        {
                            Kind = WorkflowEntryStep.Name,
                            Settings = new WorkflowEntry(
                                endpoint.Workflow!,
                                endpoint.Mode == ExchangePattern.RequestReply ? endpoint.Timeout : null
                            ),
                            Path = $"{endpoint.Path}.workflow",
                            Origin = endpoint.Origin,
                        },
                    ]
                )
            );
}

/// <summary>How an endpoint starts a workflow.</summary>
/// <param name="Workflow">The workflow.</param>
/// <param name="AnswerWithin">How long its callers wait for the answer; null if they want none.</param>
internal sealed record WorkflowEntry(string Workflow, TimeSpan? AnswerWithin) : SettingsRecord;
