using System.Globalization;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>call</c>.</summary>
internal sealed record CallConfig : PooledStepConfig
{
    [Setting("The outbound endpoint to call directly, without a topic.", Main = true, Reference = "endpoints")]
    public required string Endpoint { get; init; }

    [Setting("Which of the endpoint's targets to call, by name; by default the endpoint's own url.")]
    public ValueConfig? Target { get; init; }

    [Setting("The statuses that are no failure, such as \"2xx\" or \"404\"; all by default.")]
    public string? Expect { get; init; }
}

/// <summary>Calls an outbound endpoint on an instance of its pool; the process continues with the answer, whatever its status.</summary>
internal sealed class CallStep(IReadOnlyDictionary<string, EndpointConfig> endpoints) : StepFactory<CallConfig>
{
    public override string Kind => "call";

    protected override StepModel Compile(CallConfig settings, StepConfig step, IStepCompiler compiler)
    {
        // A missing endpoint has been reported as a missing reference.
        if (endpoints.GetValueOrDefault(settings.Endpoint) is { } endpoint and not OutboundEndpointConfig)
            compiler.Errors.Add("ESB-CFG-REF", settings, "endpoint", $"'{endpoint.Name}' is no outbound endpoint");
        var expected = settings.Expect is null ? null : StatusPattern.Parse(settings.Expect);
        if (settings.Expect is not null && expected is null)
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "expect", "expected a status such as \"2xx\" or \"404\"");

        var target = settings.Target is null ? null : CompileTarget(settings, settings.Target, compiler);
        return new StepModel(step, $"call({settings.Endpoint})")
        {
            Traits = new StepTraits
            {
                Calls = [settings.Endpoint],
                Values = settings.Target is null ? [] : [settings.Target],
                ReplacesBody = true,
            },
            Bind = services => Run(services.GetRequiredService<IEndpointCaller>(), new StepSlots($"step {step.Place}", settings, services)),
        };

        MessageStep Run(IEndpointCaller caller, StepSlots slots) => async (context, cancellationToken) =>
        {
            using var slot = await slots.RentAsync(cancellationToken);
            var id = context.NextCallId(settings.Endpoint, step.Place);
            var message = MessageHops.Set(context.Message with { Id = id }, MessageHops.Of(context.Received));
            if (target is not null) message = message with { Headers = message.Headers.With(EsbHeaders.Target, NameOf(target.Evaluate(context), settings.Endpoint)) };
            if (await caller.CallAsync(settings.Endpoint, message, context.UnitOfWork, cancellationToken) is { } answer) Take(context, answer, settings.Endpoint, expected);
        };
    }

    private IMessageValue? CompileTarget(CallConfig settings, ValueConfig target, IStepCompiler compiler)
    {
        if (endpoints.GetValueOrDefault(settings.Endpoint) is OutboundEndpointConfig { IsWhole: true } endpoint)
        {
            if (!endpoint.HasTargets) compiler.Errors.Add("ESB-CFG-TARGET", settings, "target", $"'{endpoint.Name}' has no targets to choose from");
            else if (target.Value?.Text is { } name && !endpoint.MayHaveTarget(name)) compiler.Errors.Add("ESB-CFG-TARGET", settings, "target", $"'{endpoint.Name}' has no such target");
        }

        return compiler.Expressions.Compile(target, compiler.Errors);
    }

    // A message that names no target is sent nowhere, in particular not to the default.
    private static string NameOf(object? target, string endpoint) => MessageValues.AsText(target) is { Length: > 0 } name && HeaderRules.IsValue(name)
        ? name
        : throw new EsbException("ESB-CALL-TARGET", $"The message names no target of the endpoint '{endpoint}'.", FaultKind.Invalid);

    private static void Take(MessageContext context, EsbMessage answer, string endpoint, StatusPattern? expected)
    {
        var status = answer.Headers[EsbHeaders.Status] is { } text ? int.Parse(text, CultureInfo.InvariantCulture) : (int?)null;
        if (status is { } code && expected?.Matches(code) == false)
            throw new EsbException("ESB-CALL-STATUS", $"The endpoint '{endpoint}' answered with status {code}.", FaultKind.Outside);

        context.SetProperty(MessageContext.StatusProperty, status is null ? null : (double)status);
        context.Message = answer with
        {
            Headers = answer.Headers.Without(EsbHeaders.Status),
            ConversationId = context.Received.ConversationId,
            CorrelationId = context.Received.CorrelationId,
        };
    }
}
