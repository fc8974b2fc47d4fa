using System.Text;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>respond</c>.</summary>
[AtMostOne("body", "template")]
internal sealed record RespondConfig : SettingsRecord, ITakesValues
{
    [Setting("The status code of the answer.", Range = "200..599")]
    public int Status { get; init; } = 200;

    [Setting("The media type of the answer; by default JSON for a body that is no text, otherwise plain text.")]
    public string? ContentType { get; init; }

    [Setting("Headers of the answer.")]
    public IReadOnlyDictionary<string, ValueConfig> Headers { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("The answer as it stands here: text, or any other JSON.")]
    public ConfigNode? Body { get; init; }

    [Setting("The answer as a text with places for values.")]
    public string? Template { get; init; }

    public IEnumerable<IValueSource> Values => Headers.Values;
}

/// <summary>Makes an answer of its own and ends the process.</summary>
internal sealed class RespondStep(TimeProvider time) : StepFactory<RespondConfig>
{
    public override string Kind => "respond";

    protected override CompiledStep? Compile(RespondConfig settings, StepConfig step, IStepCompiler compiler)
    {
        HeaderNames.Check(settings.Headers.Keys, $"{step.Path}.headers", step.Origin, compiler.Errors);
        var template = settings.Template is null ? null : compiler.Expressions.CompileTemplate(settings.Template, step.Path, step.Origin, compiler.Errors);
        var headers = settings.Headers.Select(header => (header.Key, Value: compiler.Expressions.Compile(header.Value, compiler.Errors))).ToArray();
        if ((template is null && settings.Template is not null) || headers.Any(header => header.Value is null)) return null;

        var body = MessageBody.FromBytes(Encoding.UTF8.GetBytes(TextOf(settings.Body)));
        var contentType = settings.ContentType ?? (settings.Body is null or { Kind: ConfigKind.Text } ? "text/plain; charset=utf-8" : "application/json");
        return new CompiledStep(Run, $"respond({settings.Status})");

        ValueTask Run(MessageContext context, CancellationToken cancellationToken)
        {
            var text = template is null ? null : MessageValues.AsText(template.Evaluate(context)) ?? "";
            var pairs = headers.Select(header => KeyValuePair.Create(header.Key, MessageValues.AsText(header.Value!.Evaluate(context)) ?? ""));
            context.Message = context.Received.Reply(text is null ? body : MessageBody.FromText(text), time) with
            {
                ContentType = contentType,
                Headers = MessageHeaders.From(pairs),
            };
            context.SetProperty(MessageContext.StatusProperty, (double)settings.Status);
            context.Outcome = ProcessOutcome.Responded;
            return ValueTask.CompletedTask;
        }
    }

    private static string TextOf(ConfigNode? body) => body switch
    {
        null => "",
        { Kind: ConfigKind.Text } => body.Text,
        _ => body.ToJson()?.ToJsonString(JsonStyle.Readable) ?? "null",
    };
}
