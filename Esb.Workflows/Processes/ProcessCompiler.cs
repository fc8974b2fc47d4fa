using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Content.Lookups;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Workflows.Itineraries;
using Esb.Workflows.Processes.Checks;
using Esb.Workflows.Workflows.Entries;

namespace Esb.Workflows.Processes;

/// <summary>Compiles the section <c>processes</c> and checks the interaction of the steps.</summary>
internal sealed class ProcessCompiler(
    UnreadSettings unread,
    IReadOnlyDictionary<string, IReadOnlyList<StepConfig>> processes,
    IReadOnlyDictionary<string, ItineraryConfig> itineraries,
    IReadOnlyDictionary<string, EndpointConfig> endpoints,
    IEnumerable<IStepFactory> factories,
    IExpressionCompiler expressions,
    ConfigErrors errors,
    LookupModels lookups,
    StreamedTopics topics,
    TransportConfig? transport = null,
    StoreConfig? store = null
) : ICompiler<ProcessModels>
{
    private readonly Dictionary<string, IStepFactory> _factories = factories
        .Concat([new StopStep(), new StopWaitStep(), new WorkflowEntryStep()])
        .ToDictionary(factory => factory.Kind);

    public ProcessModels Compile()
    {
        var models = new ProcessModels(
            processes
                .Concat(ItineraryProcesses.Of(itineraries, errors))
                .Concat(ItineraryProcesses.Of(endpoints.Values))
                .Concat(WorkflowEntries.Of(endpoints.Values))
                .ToDictionary(
                    process => process.Key,
                    process => new StepCompiler(process.Key, _factories, expressions, errors, lookups).Compile(process.Value)
                )
        );
        new CycleCheck(models, errors).Check();
        new ExchangeCheck(models, endpoints.Values, unread.LostOf<EndpointConfig>("endpoints")).Check(errors);
        new TransactionCheck(models, endpoints).Check(errors);
        new CaughtCodesCheck(models, unread.IsSound("processes")).Check(errors);
        new EndCheck(models, endpoints.Values).Check(errors);
        new StoredPublishCheck(models).Check(errors);
        new StreamCheck(models, endpoints.Values, topics).Check(errors);
        new HoldCheck(models, [.. endpoints.Values], transport, store).Check(errors);
        StepIdsCheck.Check(models, errors);
        new MapOutputCheck(errors).Check(models);
        return models;
    }
}
