using Esb.Content.Transforms;
using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Endpoints.Mail;

/// <summary>The compiled templates of a mail. Immutable and thread-safe.</summary>
internal sealed class MailPlan
{
    private MailPlan(MailOutboundConfig config, IExpressionCompiler compiler, ConfigErrors errors)
    {
        From = Template(config.From, "from");
        To = Templates(config.To, "to");
        Cc = Templates(config.Cc, "cc");
        Bcc = Templates(config.Bcc, "bcc");
        Subject = Template(config.Subject, "subject");
        Text = config.Text?.Template is { } text ? Template(text, "text") : null;
        Html = config.Html?.Template is { } html ? Template(html, "html") : null;
        Attachments =
        [
            .. config.Attachments.Select(
                (attachment, index) =>
                    (
                        Template(attachment.FileName, $"attachments.{index}.name"),
                        compiler.Compile(attachment.Body, errors)!,
                        attachment.ContentType
                    )
            ),
        ];

        IMessageValue Template(string template, string property) =>
            compiler.CompileTemplate(template, ConfigNode.Join(config.Path, property), config.Origin, errors)!;

        IReadOnlyList<IMessageValue> Templates(IReadOnlyList<string> templates, string property) =>
            [.. templates.Select(template => Template(template, property))];
    }

    public IMessageValue From { get; }

    public IReadOnlyList<IMessageValue> To { get; }

    public IReadOnlyList<IMessageValue> Cc { get; }

    public IReadOnlyList<IMessageValue> Bcc { get; }

    public IMessageValue Subject { get; }

    /// <summary>The template of the plain text; null if not configured, or a map.</summary>
    public IMessageValue? Text { get; }

    /// <summary>The template of the HTML text; null if not configured, or a map.</summary>
    public IMessageValue? Html { get; }

    public IReadOnlyList<(IMessageValue Name, IMessageValue Body, string ContentType)> Attachments { get; }

    /// <summary>Compiles the templates; null after an error.</summary>
    public static MailPlan? Compile(MailOutboundConfig config, IExpressionCompiler compiler, MapModels maps, ConfigErrors errors)
    {
        var known = errors.All.Count;
        var plan = new MailPlan(config, compiler, errors);
        var named = new[] { config.Text?.Map, config.Html?.Map }.OfType<string>();
        return errors.All.Count > known || named.Any(map => maps.Find(map) is null) ? null : plan; // a missing map has been reported
    }
}
