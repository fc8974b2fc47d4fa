using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Workflows.Processes;
using Esb.Workflows.Processes.Steps;
using Esb.Workflows.Processes.Steps.Taps;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows;

/// <summary>Registration of message processing between endpoints.</summary>
public static class WorkflowsRegistration
{
    /// <summary>Registers the processes and their steps.</summary>
    public static IServiceCollection AddEsbWorkflows(this IServiceCollection services) => services.AddProcesses().AddSteps();

    private static IServiceCollection AddProcesses(this IServiceCollection services) => services
        .AddCompiler<ProcessModels, ProcessCompiler>()
        .AddScoped<IProcessCatalog, ProcessCatalog>()
        .AddSingleton<WireTaps>()
        .AddSingleton<IBusPart>(provider => provider.GetRequiredService<WireTaps>());

    private static IServiceCollection AddSteps(this IServiceCollection services) => services
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
        .AddStep<RunStep, RunConfig>("run", "Runs another process as a part of this one.")
        .AddStep<RespondStep, RespondConfig>("respond", "Makes an answer and ends the process.")
        .AddStep<FailStep, FailConfig>("fail", "Fails the process on purpose.")
        .AddStep<LogStep, LogConfig>("log", "Writes a line to the log.")
        .AddStep<TryStep, TryConfig>("try", "Runs steps, and others when they fail.")
        .AddStep<TransactionStep, TransactionConfig>("transaction", "Runs steps whose calls of a database and whose publishes happen all or not at all.")
        .AddUnavailable<StepConfig>(
            "aggregate", "scatter", "recipients", "resequence", "enrich",
            "applyPolicy", "itinerary", "delay", "throttle", "custom");
}
