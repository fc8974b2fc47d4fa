using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Workflows.Processes.Holding;

namespace Esb.Workflows.Processes.Checks;

/// <summary>Rejects steps that hold messages where the steps behind them could not run later: where somebody waits for the end of the
/// process, or where a step around them goes on.</summary>
internal sealed class HoldCheck(
    ProcessModels processes,
    IReadOnlyCollection<EndpointConfig> endpoints,
    TransportConfig? transport,
    StoreConfig? store
)
{
    private const string Code = "ESB-HOLD-PLACE";

    public void Check(ConfigErrors errors)
    {
        var holding = processes.All.Where(process => HeldIn(process).Any()).ToList();
        if (holding.Count == 0)
            return;
        foreach (var process in holding)
        {
            CheckPlaces(process.Steps.Steps, errors);
            CheckEnds(process, errors);
        }

        CheckRuns(errors);
        CheckRequests(errors);
        foreach (var endpoint in endpoints)
            CheckEndpoint(endpoint, errors);
        if (transport?.SpansHosts == true && store?.IsShared == false)
            errors.Add(
                "ESB-CFG-STORE",
                HeldIn(holding[0]).First().Path,
                "several hosts hold messages of one key, so they must share what is held: expected a store of type postgres",
                HeldIn(holding[0]).First().Origin
            );
    }

    private static IEnumerable<StepModel> HeldIn(ProcessModel process) => process.Steps.Descend().Where(step => step.Traits.Holds);

    private static void CheckPlaces(IEnumerable<StepModel> steps, ConfigErrors errors)
    {
        foreach (var step in steps)
        {
            // Parts of a message end with the steps for parts, unless their results are gathered.
            var allows = step.Traits.Branches || step.Traits is { Divides: true, ReplacesBody: false, RunsAtOnce: false };
            foreach (var inner in step.Lists.SelectMany(list => list.Steps))
            {
                if (allows)
                    CheckPlaces([inner], errors);
                else
                    foreach (var held in new[] { inner }.SelectMany(one => one.Descend()).Where(one => one.Traits.Holds))
                        errors.Add(
                            Code,
                            held.Path,
                            $"'{held.Kind}' cannot hold a message inside of '{step.Kind}', which goes on behind it; expected it in the "
                                + "process itself, in choose, or in a split that gathers nothing",
                            held.Origin
                        );
            }
        }
    }

    // What another process holds continues there, and ends there.
    private static void CheckEnds(ProcessModel process, ConfigErrors errors)
    {
        var continuations = Continuations.Of(process);
        foreach (var step in HeldIn(process).Where(step => step.Traits.Runs.Count > 0 && continuations.Find(step.Place) is { Count: > 0 }))
            errors.Add(
                Code,
                step.Path,
                $"messages wait at a stop of {string.Join(", ", step.Traits.Runs)}, and do not come back to the steps behind "
                    + $"'{step.Kind}'; expected it as the last step",
                step.Origin
            );
    }

    private void CheckRuns(ConfigErrors errors)
    {
        foreach (var step in processes.Steps.Where(step => !step.Traits.Holds))
        {
            foreach (var name in step.Traits.Runs.Where(Holds))
                errors.Add(
                    Code,
                    step.Path,
                    $"the process '{name}' holds messages, so that it cannot run as a part of another one; publish to an endpoint of the "
                        + "type process that runs it",
                    step.Origin
                );
        }
    }

    private void CheckRequests(ConfigErrors errors)
    {
        foreach (var step in processes.Steps)
        {
            foreach (
                var endpoint in endpoints
                    .OfType<OutboundEndpointConfig>()
                    .Where(endpoint => endpoint.Answers && endpoint.Processes.Any(Holds))
                    .Where(endpoint =>
                        step.Traits.Requests.Any(subject => endpoint.Subscribe.Any(pattern => pattern.Matches(subject.Value)))
                    )
            )
                errors.Add(
                    Code,
                    step.Path,
                    $"the endpoint '{endpoint.Name}' that answers holds messages in its process, so that there is no answer",
                    step.Origin
                );
        }
    }

    private void CheckEndpoint(EndpointConfig endpoint, ConfigErrors errors)
    {
        switch (endpoint)
        {
            case InboundEndpointConfig { Mode: ExchangePattern.RequestReply } inbound:
                if (inbound.Processes.FirstOrDefault(Holds) is { } answering)
                    errors.Add(
                        Code,
                        inbound,
                        "mode",
                        $"the process '{answering}' holds messages, so that callers get no answer; expected one-way"
                    );
                break;
            case OutboundEndpointConfig outbound:
                foreach (var (setting, name) in new[] { ("process", outbound.PreparedBy), ("reply", outbound.Reply) })
                {
                    if (name is not null && Holds(name))
                        errors.Add(
                            Code,
                            outbound,
                            setting,
                            $"the process '{name}' holds messages, which are then not sent; run it in an endpoint of the type process that "
                                + "publishes what this endpoint subscribes to"
                        );
                }

                break;
        }
    }

    private bool Holds(string process) => processes.Find(process) is { } model && HeldIn(model).Any();
}
