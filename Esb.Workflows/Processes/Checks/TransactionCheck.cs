using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Checks;

/// <summary>Rejects steps that break the guarantee of a transaction, including steps in processes that it runs and in processes of
/// endpoints that it calls.</summary>
internal sealed class TransactionCheck(ProcessModels processes, IReadOnlyDictionary<string, EndpointConfig> endpoints)
{
    private const string RequestInside =
        "a request inside of a transaction would wait for a reply to what is not published before the commit; make it before or after";

    public void Check(ConfigErrors errors) => Check(processes.Steps, errors);

    /// <summary>Checks the transactions among these steps, which need not be those of a process.</summary>
    public void Check(IEnumerable<StepModel> steps, ConfigErrors errors)
    {
        foreach (var transaction in steps.Where(step => step.Traits.Transaction is { Length: > 0 }))
        {
            foreach (var step in InsideOf(transaction))
            {
                if (ObstacleOf(step.Traits, transaction.Traits.Transaction!) is { } obstacle)
                    errors.Add("ESB-CFG-TRANSACTION", step.Path, obstacle, step.Origin);
            }
        }
    }

    // Includes the processes of endpoints called inside, which run in the transaction too.
    private IEnumerable<StepModel> InsideOf(StepModel transaction)
    {
        var seen = new HashSet<string>();
        var open = new Queue<StepModel>(processes.Reached(transaction.Lists.SelectMany(list => list.Steps)));
        while (open.TryDequeue(out var step))
        {
            yield return step;
            var called = step.Traits.Calls.Select(endpoints.GetValueOrDefault).OfType<OutboundEndpointConfig>();
            var around = called.SelectMany(endpoint => new[] { endpoint.PreparedBy, endpoint.Reply }).OfType<string>();
            foreach (var process in around.Where(seen.Add).Select(processes.Find).OfType<ProcessModel>())
            {
                foreach (var inner in processes.Reached(process.Steps.Steps))
                    open.Enqueue(inner);
            }
        }
    }

    private string? ObstacleOf(StepTraits traits, string connection)
    {
        if (traits.Transaction is not null)
            return "a transaction inside of a transaction; expected one around all of it";
        if (traits.Requests.Count > 0)
            return RequestInside;
        if (traits.RunsAtOnce)
            return "calls at the same time, which one transaction does not allow; make them before or after";
        foreach (var name in traits.Calls)
        {
            if (endpoints.GetValueOrDefault(name) is OutboundEndpointConfig { Database: { } other } && other != connection)
                return $"'{name}' is in the database '{other}', which the transaction of '{connection}' does not reach; call it "
                    + $"before or after";
        }

        return null;
    }
}
