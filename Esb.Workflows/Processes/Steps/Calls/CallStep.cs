using System.Runtime.CompilerServices;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Calls an outbound endpoint on an instance of its pool; the process continues with the answer. A status outside 2xx is a
/// failure, unless the step expects it.</summary>
internal sealed class CallStep(IReadOnlyDictionary<string, EndpointConfig> endpoints) : StepFactory<CallConfig>
{
    public override string Kind => "call";

    protected override StepModel Compile(CallConfig settings, StepConfig step, IStepCompiler compiler)
    {
        // A missing endpoint has been reported as a missing reference.
        var endpoint = endpoints.GetValueOrDefault(settings.Endpoint);
        if (endpoint is not null and not OutboundEndpointConfig)
            compiler.Errors.Add("ESB-CFG-REF", settings, "endpoint", $"'{endpoint.Name}' is no outbound endpoint");
        if (endpoint is OutboundEndpointConfig { TakesRequests: false } other && CallRequestPlan.IsAsked(settings))
            compiler.Errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "endpoint",
                $"'{other.Name}' is no endpoint of HTTP, which path, query, method and headers of a request need"
            );

        var target = settings.Target is null ? null : CompileTarget(settings, settings.Target, compiler);
        var request = CallRequestPlan.Compile(settings, compiler);
        return new StepModel(step, $"call({settings.Endpoint})")
        {
            Traits = new StepTraits
            {
                Calls = [settings.Endpoint],
                Streams = endpoint is OutboundEndpointConfig { TakesStreams: true } && !BodyReads.InTemplate(settings.RequestPath),
                SkipsCheckpoint = !settings.Checkpoint,
                Values = [.. settings.Target is { } named ? new[] { named } : [], .. CallRequestPlan.ValuesOf(settings)],
                ReplacesBody = true,
            },
            Bind = services =>
                Run(
                    services.GetRequiredService<IEndpointCaller>(),
                    new StepSlots($"step {step.Place}", settings, services),
                    AnswersOf(settings, services)
                ),
        };

        MessageStep Run(IEndpointCaller caller, StepSlots slots, CallAnswers answers) =>
            [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
            async ValueTask (context, cancellationToken) =>
            {
                using var slot = await slots.RentAsync(cancellationToken);
                var id = context.NextCallId(settings.Endpoint, step.Place);
                var message = MessageHops.Set(
                    context.Message with
                    {
                        Id = id,
                        Request = request?.Of(context),
                    },
                    MessageHops.Of(context.Received)
                );
                if (target is not null)
                    message = message with
                    {
                        Headers = message.Headers.With(EsbHeaders.Target, NameOf(target.Evaluate(context), settings.Endpoint)),
                    };
                if (
                    await caller.CallAsync(settings.Endpoint, context.WithProperties(message), context.UnitOfWork, cancellationToken) is
                    { } answer
                )
                    answers.Take(context, answer);
            };
    }

    private static CallAnswers AnswersOf(CallConfig settings, IServiceProvider services) =>
        new(settings, services.GetService<IAuditTrail>()?.Mask ?? NoMask.Instance, services.GetRequiredService<ILogger<CallAnswers>>());

    private IMessageValue? CompileTarget(CallConfig settings, ValueConfig target, IStepCompiler compiler)
    {
        if (endpoints.GetValueOrDefault(settings.Endpoint) is OutboundEndpointConfig { IsWhole: true } endpoint)
        {
            if (!endpoint.HasTargets)
                compiler.Errors.Add("ESB-CFG-TARGET", settings, "target", $"'{endpoint.Name}' has no targets to choose from");
            else if (target.Value?.Text is { } name && !endpoint.MayHaveTarget(name))
                compiler.Errors.Add("ESB-CFG-TARGET", settings, "target", $"'{endpoint.Name}' has no such target");
        }

        return compiler.Expressions.Compile(target, compiler.Errors);
    }

    // A message that names no target is sent nowhere, in particular not to the default.
    private static string NameOf(object? target, string endpoint) =>
        MessageValues.AsText(target) is { Length: > 0 } name && HeaderRules.IsValue(name)
            ? name
            : throw new EsbException("ESB-CALL-TARGET", $"The message names no target of the endpoint '{endpoint}'.", FaultKind.Invalid);
}
