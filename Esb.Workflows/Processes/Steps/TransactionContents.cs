using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Refuses steps inside of a transaction that it could not keep its promise for, also in the processes that it runs.</summary>
internal sealed class TransactionContents(EsbConfiguration configuration, string connection)
{
    private const string Code = "ESB-CFG-TRANSACTION";

    private readonly HashSet<string> _seen = [];

    public void Check(IReadOnlyList<StepConfig> steps, ConfigErrors errors)
    {
        foreach (var step in StepTree.Descend(steps))
        {
            if (ObstacleOf(step) is { } obstacle) errors.Add(Code, step.Path, obstacle, step.Origin);
            if (step.Settings is RunConfig run && _seen.Add(run.Process) && configuration.Named<IReadOnlyList<StepConfig>>("processes").TryGetValue(run.Process, out var inner))
                Check(inner, errors);
        }
    }

    private string? ObstacleOf(StepConfig step) => step.Settings switch
    {
        TransactionConfig => "a transaction inside of a transaction; expected one around all of it",
        RequestConfig => "a request inside of a transaction would wait for a reply to what is not published before the commit; make it before or after",
        CallConfig call when configuration.Named<EndpointConfig>("endpoints").GetValueOrDefault(call.Endpoint) is OutboundEndpointConfig { Database: { } other } && other != connection =>
            $"'{call.Endpoint}' is in the database '{other}', which the transaction of '{connection}' does not reach; call it before or after",
        _ => null,
    };
}
