using System.Text;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>respond</c>.</summary>
[AtMostOne("body", "template")]
internal sealed record RespondConfig : SettingsRecord
{
    [Setting("The status code of the answer.", Range = "200..599")]
    public int Status { get; init; } = 200;

    [Setting("The media type of the answer; by default JSON for a body that is not text, otherwise plain text.")]
    public string? ContentType { get; init; }

    [Setting("Headers of the answer.")]
    public IReadOnlyDictionary<string, ValueConfig> Headers { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("The answer as it stands here: text, or any other JSON.")]
    public ConfigNode? Body { get; init; }

    [Setting("The answer as a text with places for values.")]
    public string? Template { get; init; }
}

/// <summary>Creates an answer of its own and ends the process.</summary>
internal sealed class RespondStep : StepFactory<RespondConfig>
{
    public override string Kind => "respond";

    protected override StepModel Compile(RespondConfig settings, StepConfig step, IStepCompiler compiler)
    {
        HeaderNames.Check(settings.Headers.Keys, $"{step.Path}.headers", step.Origin, compiler.Errors);
        var template = settings.Template is null
            ? null
            : compiler.Expressions.CompileTemplate(settings.Template, step.Path, step.Origin, compiler.Errors);
        var headers = settings
            .Headers.Select(header => (header.Key, Value: compiler.Expressions.Compile(header.Value, compiler.Errors)))
            .ToArray();
        var isSound = (template is not null || settings.Template is null) && headers.All(header => header.Value is not null);
        var body = MessageBody.FromBytes(Encoding.UTF8.GetBytes(TextOf(settings.Body)));
        var contentType =
            settings.ContentType ?? (settings.Body is null or { Kind: ConfigKind.Text } ? "text/plain; charset=utf-8" : "application/json");
        return new StepModel(step, $"respond({settings.Status})")
        {
            Traits = new StepTraits { Values = [.. settings.Headers.Values], ReplacesBody = true },
            Bind = isSound ? services => Run(services.GetRequiredService<TimeProvider>()) : null,
        };

        MessageStep Run(TimeProvider time) =>
            (context, _) =>
            {
                var text = template is null ? null : MessageValues.AsText(template.Evaluate(context)) ?? "";
                var pairs = headers.Select(header =>
                    KeyValuePair.Create(header.Key, MessageValues.AsText(header.Value!.Evaluate(context)) ?? "")
                );
                context.Message = context.Received.Reply(text is null ? body : MessageBody.FromText(text), time) with
                {
                    ContentType = contentType,
                    Headers = MessageHeaders.From(pairs),
                };
                context.SetProperty(MessageContext.StatusProperty, (double)settings.Status);
                context.Outcome = ProcessOutcome.Responded;
                return ValueTask.CompletedTask;
            };
    }

    private static string TextOf(ConfigNode? body) =>
        body switch
        {
            null => "",
            { Kind: ConfigKind.Text } => body.Text,
            _ => body.ToJson()?.ToJsonString(JsonStyle.Readable) ?? "null",
        };
}
