using System.Text.Json;
using Esb.Core.Audit;
using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>recipients</c>.</summary>
internal sealed record RecipientsConfig : SettingsRecord
{
    [Setting("The subjects to publish under: a text, several with commas between, or a JSON array of texts.")]
    public required ValueConfig To { get; init; }

    [Setting("The subjects that a message may name, as patterns such as \"partners.*\".")]
    public required IReadOnlyList<SubjectPattern> Allow { get; init; }

    [Setting("What a subject that is not allowed means, and a message without any: it fails, or the subject is left out.")]
    public OtherRecipients Otherwise { get; init; }
}

/// <summary>Meanings of a recipient that is not allowed.</summary>
internal enum OtherRecipients
{
    /// <summary>The message fails.</summary>
    Fail,

    /// <summary>The recipient is left out.</summary>
    Ignore,
}

/// <summary>Publishes the message under each of the subjects that it names (pattern: Recipient List). All are checked before anything is
/// published; the message goes on unchanged.</summary>
internal sealed partial class RecipientsStep : StepFactory<RecipientsConfig>
{
    private const int MaxRecipients = 1_000;
    private const int Shown = 80;

    public override string Kind => "recipients";

    protected override StepModel Compile(RecipientsConfig settings, StepConfig step, IStepCompiler compiler)
    {
        if (settings.Allow.Count == 0 && settings.IsSound("allow"))
            compiler.Errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "allow",
                "expected at least one pattern: subjects that a message names are published only where they are allowed"
            );
        var to = compiler.Expressions.Compile(settings.To, compiler.Errors);
        return new StepModel(step, $"recipients({string.Join(", ", settings.Allow)})")
        {
            Traits = new StepTraits
            {
                Publishes = [.. settings.Allow.Select(pattern => Subject.Parse(pattern.Value)).OfType<Subject>()],
                MayPublish = settings.Allow,
                HandsToTopics = true,
                LeavesFacts = true,
                Values = [settings.To],
            },
            Bind = to is null
                ? null
                : services =>
                    Run(services.GetRequiredService<ITopicPublisher>(), to, services.GetRequiredService<ILogger<RecipientsStep>>()),
        };

        MessageStep Run(ITopicPublisher publisher, IMessageValue named, ILogger logger) =>
            async (context, cancellationToken) =>
            {
                foreach (var subject in Check(settings, SubjectsOf(MessageValues.AsText(named.Evaluate(context))), context, logger))
                    await publisher.PublishAsync(context, subject, step.Place, cancellationToken);
            };
    }

    private static List<Subject> Check(RecipientsConfig settings, IReadOnlyList<string> named, MessageContext context, ILogger logger)
    {
        if (named.Count > MaxRecipients)
            throw new EsbException(
                "ESB-RCPT-LIMIT",
                $"The message names {named.Count} recipients; at most {MaxRecipients} are allowed.",
                FaultKind.Invalid
            );
        var subjects = new List<Subject>(named.Count);
        foreach (var name in named)
        {
            if (Subject.Parse(name) is { } subject && settings.Allow.Any(pattern => pattern.Matches(name)))
            {
                subjects.Add(subject);
                continue;
            }

            var shown = SafeText.Of(MaskedFlow.Clean(name), Shown);
            if (settings.Otherwise == OtherRecipients.Fail)
                throw Refused($"The recipient \"{shown}\" is not allowed.");
            LogIgnored(logger, context.Message.Id, shown);
        }

        return named.Count == 0 && settings.Otherwise == OtherRecipients.Fail ? throw Refused("The message names no recipient.") : subjects;
    }

    // Each subject once, in the order named.
    private static IReadOnlyList<string> SubjectsOf(string? text)
    {
        if (string.IsNullOrWhiteSpace(text))
            return [];
        var parts = text.TrimStart().StartsWith('[')
            ? FromJson(text)
            : text.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
        return [.. parts.Distinct(StringComparer.Ordinal)];
    }

    private static string[] FromJson(string text)
    {
        try
        {
            return JsonSerializer.Deserialize<string[]>(text) is { } parts && parts.All(part => part is not null)
                ? parts
                : throw new JsonException();
        }
        catch (JsonException ex)
        {
            throw new EsbException("ESB-RCPT-ALLOW", "The recipients are not a JSON array of strings.", FaultKind.Invalid, ex);
        }
    }

    private static EsbException Refused(string reason) => new("ESB-RCPT-ALLOW", reason, FaultKind.Invalid);

    [LoggerMessage(
        EventId = 3060,
        Level = LogLevel.Information,
        Message = "Message {MessageId}: the recipient \"{Recipient}\" is not allowed and was left out"
    )]
    private static partial void LogIgnored(ILogger logger, Guid messageId, string recipient);
}
