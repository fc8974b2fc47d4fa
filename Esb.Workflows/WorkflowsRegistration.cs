using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Marks;
using Esb.Core.Planning;
using Esb.Core.Processes;
using Esb.Core.Processes.Tracing;
using Esb.Core.Workflows;
using Esb.Workflows.Itineraries;
using Esb.Workflows.Processes;
using Esb.Workflows.Processes.Checks;
using Esb.Workflows.Processes.Endings;
using Esb.Workflows.Processes.Entry;
using Esb.Workflows.Processes.Holding;
using Esb.Workflows.Processes.Steps;
using Esb.Workflows.Processes.Steps.Deduplication;
using Esb.Workflows.Processes.Steps.Enriching;
using Esb.Workflows.Processes.Steps.Holding;
using Esb.Workflows.Processes.Steps.Scattering;
using Esb.Workflows.Processes.Steps.Taps;
using Esb.Workflows.Processes.Steps.Throttling;
using Esb.Workflows.Processes.Tracing;
using Esb.Workflows.Workflows;
using Esb.Workflows.Workflows.Compiling;
using Esb.Workflows.Workflows.Engine;
using Esb.Workflows.Workflows.Running;
using Esb.Workflows.Workflows.Steps;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Esb.Workflows;

/// <summary>Registration of message processing between endpoints.</summary>
public static class WorkflowsRegistration
{
    /// <summary>Registers the processes and their steps.</summary>
    public static IServiceCollection AddEsbWorkflows(this IServiceCollection services) => services.AddProcesses().AddSteps().AddWorkflows();

    private static IServiceCollection AddProcesses(this IServiceCollection services) =>
        services
            .AddCompiling<StreamedTopics, StreamedTopics>()
            .AddCompiler<ProcessModels, ProcessCompiler>()
            .AddScoped<IProcessCatalog, ProcessCatalog>()
            .AddCompiler<EntryGateModels, EntryGateCompiler>()
            .AddScoped<IEntryGates, EntryGates>()
            .AddSingleton<ArrivingMessages>()
            .AddSingleton<ArrivingState>()
            .AddSingleton<TraceSwitch>()
            .AddSingleton<IProcessTraces, ProcessTraces>()
            .AddSection<IReadOnlyDictionary<string, ItineraryConfig>>("itineraries", "Stops that messages pass one after the other.")
            .AddCompiling<IAddedEndpoints, ProcessQueues>()
            .AddScoped<HoldCatalog>()
            .AddScoped<SplitDefinitions>()
            .AddSingleton<EarlierSplits>()
            .AddSingleton<Holder>()
            .AddSingleton<ItineraryProgress>()
            .AddSingleton<HoldEngine>()
            .AddSingleton<HoldsPart>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<HoldsPart>())
            .AddSingleton<IRevisionPart>(provider => provider.GetRequiredService<HoldsPart>())
            .AddSingleton<WireTaps>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<WireTaps>());

    private static IServiceCollection AddWorkflows(this IServiceCollection services) =>
        services
            .AddSection<IReadOnlyDictionary<string, WorkflowConfig>>("workflows", "Steps that wait in the store between messages.")
            .AddModel(compiling => ActivatorUtilities.CreateInstance<PinnedContent>(compiling))
            .AddCompiler<WorkflowModels, WorkflowCompiler>()
            .AddModel(compiling => new WorkflowSubscriptions([
                .. compiling.GetRequiredService<WorkflowModels>().All.Select(WorkflowSubscription.Of).Where(one => one.Patterns.Count > 0),
            ]))
            .AddModel(compiling => new ConnectedWorkflows([
                .. compiling
                    .GetRequiredService<WorkflowModels>()
                    .All.Select(model => new ConnectedWorkflow(
                        model.Name,
                        model.Description,
                        [.. model.Subjects],
                        model.Traits,
                        [.. model.Children]
                    )),
            ]))
            .AddModel(compiling => new WorkflowTransactions([
                .. compiling.GetRequiredService<WorkflowModels>().All.SelectMany(model => model.Transactions).Distinct(),
            ]))
            .AddScoped<WorkflowCatalog>()
            .AddScoped<IChangePlanner, WorkflowPlanner>()
            .AddSingleton<WorkflowPrograms>()
            .AddSingleton<EarlierPrograms>()
            .AddSingleton<RecentChanges>()
            .AddSingleton<IWorkflowChanges>(provider => provider.GetRequiredService<RecentChanges>())
            .AddSingleton<Checkpointer>()
            .AddSingleton<OutboxPublisher>()
            .AddSingleton<CallerAnswers>()
            .AddSingleton<BackgroundRuns>()
            .AddSingleton<StartAdmission>()
            .AddSingleton<WorkflowEngine>()
            .AddSingleton<IWorkflowControl, WorkflowControl>()
            .AddSingleton<InstanceBatches>()
            .AddSingleton<IWorkflowBatches>(provider => provider.GetRequiredService<InstanceBatches>())
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<InstanceBatches>())
            .AddSingleton<InstanceCounts>()
            .AddSingleton<IWorkflowCounts>(provider => provider.GetRequiredService<InstanceCounts>())
            .AddSingleton<WorkflowsPart>()
            .AddSingleton<IMarkSource, InstanceMarks>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<WorkflowsPart>())
            .AddSingleton<IRevisionPart>(provider => provider.GetRequiredService<WorkflowsPart>())
            .AddStep<ReceiveStep, ReceiveConfig>("receive", "Waits for a message of the instance.")
            .AddStep<CollectStep, CollectConfig>("collect", "Waits for several messages of the instance.")
            .AddStep<DelayStep, DelayConfig>("delay", "Waits for a time.")
            .AddStep<CorrelateStep, IReadOnlyDictionary<string, ValueConfig>>("correlate", "Adds business keys of the instance.")
            .AddStep<TerminateStep, TerminateConfig>("terminate", "Ends the instance.")
            .AddStep<ScopeStep, ScopeConfig>("scope", "Runs steps that are undone together.")
            .AddStep<ParallelStep, ParallelConfig>("parallel", "Runs branches that wait side by side.")
            .AddStep<RepeatStep, RepeatConfig>("repeat", "Repeats steps as long as a condition holds.")
            .AddStep<ForEachStep, ForEachConfig>("forEach", "Runs steps with each item of a message.")
            .AddStep<RunWorkflowStep, ChildConfig>("runWorkflow", "Runs another workflow and waits for its end.")
            .AddStep<StartWorkflowStep, ChildConfig>("startWorkflow", "Starts another workflow and continues.");

    private static IServiceCollection AddSteps(this IServiceCollection services) =>
        services
            .AddStep<ValidateStep, ValidateConfig>("validate", "Fails messages whose body breaks a schema.")
            .AddStep<TransformStep, TransformConfig>("transform", "Replaces the body by what a map makes of it.")
            .AddStep<ConvertStep, ConvertConfig>("convert", "Writes the content of the body in another form: XML, JSON or a format.")
            .AddStep<ScriptStep, ScriptConfig>("script", "Changes body, headers and properties as a JavaScript map says.")
            .AddStep<DecodeStep, DecodeConfig>("decode", "Decodes the body.")
            .AddStep<EncodeStep, EncodeConfig>("encode", "Encodes the body.")
            .AddStep<SetStep, SetConfig>("set", "Sets headers, properties and the body.")
            .AddStep<ChooseStep, ChooseConfig>("choose", "Runs the first branch whose condition holds.")
            .AddStep<SplitStep, SplitConfig>("split", "Runs steps with each item of the body.")
            .AddStep<FilterStep, ConditionConfig>("filter", "Ends the process for messages that do not meet a condition.")
            .AddStep<PublishStep, PublishConfig>("publish", "Publishes the message to a topic.")
            .AddStep<WireTapStep, WireTapConfig>("wireTap", "Publishes a copy of the message beside it, best effort.")
            .AddStep<RequestStep, RequestConfig>("request", "Publishes the message as a request and continues with the reply.")
            .AddStep<CallStep, CallConfig>("call", "Calls an outbound endpoint and continues with its answer.")
            .AddStep<ScatterStep, ScatterConfig>(
                "scatter",
                "Calls several endpoints, or sends several requests, at once, and gathers the answers."
            )
            .AddStep<EnrichStep, EnrichConfig>("enrich", "Adds the answer of a call or a request to the message.")
            .AddStep<RecipientsStep, RecipientsConfig>("recipients", "Publishes the message under each of the subjects that it names.")
            .AddStep<DedupeStep, DedupeConfig>("dedupe", "Lets messages with the same key pass once.")
            .AddStep<AggregateStep, AggregateConfig>("aggregate", "Keeps messages until their group is complete, then continues with one.")
            .AddStep<ResequenceStep, ResequenceConfig>("resequence", "Continues with messages in the order of their numbers.")
            .AddStep<ThrottleStep, ThrottleConfig>("throttle", "Lets messages pass at a limited rate.")
            .AddStep<RunStep, RunConfig>("run", "Runs another process as a part of this one.")
            .AddStep<RespondStep, RespondConfig>("respond", "Makes an answer and ends the process.")
            .AddStep<FailStep, FailConfig>("fail", "Fails the process on purpose.")
            .AddStep<LogStep, LogConfig>("log", "Writes a line to the log.")
            .AddStep<TryStep, TryConfig>("try", "Runs steps, and others when they fail.")
            .AddStep<TransactionStep, TransactionConfig>(
                "transaction",
                "Runs steps whose calls of a database and whose publishes happen all or not at all."
            )
            .AddStep<ItineraryStep, ItineraryChoiceConfig>("itinerary", "Sends the message along an itinerary.")
            .AddUnavailable<StepConfig>("applyPolicy", "custom");
}
