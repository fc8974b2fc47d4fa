using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Checks;

/// <summary>Rejects steps that need a body in memory in the processes of endpoints that stream it.</summary>
internal sealed class StreamCheck(ProcessModels processes, IEnumerable<EndpointConfig> endpoints, StreamedTopics topics)
{
    public void Check(ConfigErrors errors)
    {
        foreach (var endpoint in endpoints.OfType<InboundEndpointConfig>().Where(one => one.BodyTransfer == BodyTransfer.Streamed))
        {
            if (endpoint.EntryProcess is { } name && processes.Find(name) is { } process)
                Check(process.Steps.Steps, endpoint, errors);
            if (endpoint.Publish is { } subject && topics.ObstacleOf(subject) is { } obstacle)
                errors.Add("ESB-CFG-VALUE", endpoint, "transfer", obstacle);
        }
    }

    private void Check(IReadOnlyList<StepModel> steps, InboundEndpointConfig endpoint, ConfigErrors errors)
    {
        CheckSteps(steps, endpoint.Name, errors);
        if (endpoint.RereadsBodies)
            return;
        foreach (var step in steps.SelectMany(step => step.Descend()).Where(step => step.Traits is { Divides: true, Streams: true }))
            errors.Add(
                "ESB-CFG-VALUE",
                step.Path,
                $"'{step.Kind}' reads a body again after a failure, and that of '{endpoint.Name}' comes once: expected call",
                step.Origin
            );
        if (MostReads(steps) > 1)
            errors.Add(
                "ESB-CFG-VALUE",
                endpoint,
                "transfer",
                "the body comes once: expected a process that calls one endpoint, or publishes under one subject, with it"
            );
    }

    // How often one message is read: by each call and publish, in one list of a choice.
    private static int MostReads(IEnumerable<StepModel> steps) =>
        steps.Sum(step =>
            step.Traits.Calls.Count
            + (step.Traits.Streams ? step.Traits.Publishes.Count : 0)
            + step.Lists.Select(list => MostReads(list.Steps)).DefaultIfEmpty().Max()
        );

    private void CheckSteps(IEnumerable<StepModel> steps, string endpoint, ConfigErrors errors)
    {
        foreach (var step in steps)
        {
            if (!step.Traits.Streams)
                errors.Add("ESB-CFG-VALUE", step.Path, Refusal(step, endpoint), step.Origin);
            foreach (var value in step.Traits.Values.Where(BodyReads.InValue))
                errors.Add(
                    "ESB-CFG-VALUE",
                    value.Path,
                    $"the body is not in memory, since '{endpoint}' streams it: expected a value of headers, properties or state",
                    value.Origin
                );
            if (!step.Traits.Divides)
            {
                foreach (var list in step.Lists)
                    CheckSteps(list.Steps, endpoint, errors);
            }
        }
    }

    private string Refusal(StepModel step, string endpoint) =>
        step.Traits.Divides
            ? $"'{endpoint}' streams its bodies: expected a format of records that are lines, or an xpath of element names from the "
                + "root such as /orders/order"
        : step is { Kind: "publish", Traits.Publishes: [var subject] } && topics.ObstacleOf(subject) is { } obstacle
            ? $"'{endpoint}' streams its bodies, and {obstacle}"
        : $"'{step.Kind}' needs the whole body, and '{endpoint}' streams it: expected it inside of a split, a call of an endpoint "
            + "that takes streams (file-outbound, sftp-outbound, http-outbound), or another transfer";
}
