using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using MimeKit;

namespace Esb.Endpoints.Mail;

/// <summary>Reads the addresses of a mail from templates, and refuses what would forge headers or reach domains that are not allowed.
/// Immutable and thread-safe.</summary>
/// <param name="endpoint">The endpoint's name.</param>
/// <param name="allow">The allowed domains; empty for all.</param>
internal sealed class MailAddresses(string endpoint, IReadOnlyList<string> allow)
{
    /// <summary>The most recipients of a mail: as many as every server must take (RFC 5321, section 4.5.3.1.8).</summary>
    public const int MostRecipients = 100;

    private const int LongestAddress = 254; // RFC 5321, section 4.5.3.1.3

    private static readonly ParserOptions Strict = new()
    {
        AddressParserComplianceMode = RfcComplianceMode.Strict,
        AllowAddressesWithoutDomain = false,
    };

    /// <summary>Evaluates a template to one line of text.</summary>
    /// <exception cref="EndpointException"><c>ESB-SMTP-INJECTION</c>: it has line breaks or other control characters.</exception>
    public string Line(IMessageValue template, MessageContext context, string what)
    {
        var text = MessageValues.AsText(template.Evaluate(context)) ?? "";
        return HeaderRules.IsValue(text) ? text : throw Injection(what);
    }

    /// <summary>Reads the addresses of some templates.</summary>
    /// <exception cref="EndpointException"><c>ESB-SMTP-INJECTION</c>; <c>ESB-SMTP-ADDRESS</c>; <c>ESB-SMTP-RECIPIENTS</c>.</exception>
    public List<MailboxAddress> Read(IEnumerable<IMessageValue> templates, MessageContext context, string what)
    {
        var addresses = new List<MailboxAddress>();
        foreach (var template in templates)
        {
            var text = Line(template, context, what);
            if (string.IsNullOrWhiteSpace(text))
                continue;
            if (text.Length > LongestAddress * MostRecipients)
                throw TooMany();
            if (!InternetAddressList.TryParse(Strict, text, out var list))
                throw Refused($"An address in {what} cannot be read: '{Masked(text)}'.");
            foreach (var address in list)
            {
                if (address is not MailboxAddress mailbox)
                    throw Refused($"A group of addresses in {what} is not accepted.");
                addresses.Add(Checked(mailbox, what));
            }

            if (addresses.Count > MostRecipients)
                throw TooMany();
        }

        return addresses;
    }

    /// <summary>Refuses recipients outside of the allowed domains.</summary>
    /// <exception cref="EndpointException"><c>ESB-SMTP-DOMAIN</c>; <c>ESB-SMTP-RECIPIENTS</c>; <c>ESB-SMTP-ADDRESS</c>: there is
    /// none.</exception>
    public void CheckRecipients(IReadOnlyCollection<MailboxAddress> recipients)
    {
        if (recipients.Count == 0)
            throw Refused("The mail has no recipient.");
        if (recipients.Count > MostRecipients)
            throw TooMany();
        if (allow.Count > 0 && recipients.FirstOrDefault(recipient => !IsAllowed(DomainOf(recipient))) is { } outside)
            throw Unsent("ESB-SMTP-DOMAIN", $"The recipient '{Masked(outside.Address)}' is in no domain that the endpoint may send to.");
    }

    /// <summary>An address without what names a person.</summary>
    public static string Masked(string address)
    {
        var at = address.LastIndexOf('@');
        var domain = at < 0 ? "" : address[at..].Trim().TrimEnd('>');
        return HeaderRules.IsValue(domain) && domain.Length is > 0 and <= 80 ? $"***{domain}" : "***";
    }

    private MailboxAddress Checked(MailboxAddress mailbox, string what)
    {
        if (!HeaderRules.IsValue(mailbox.Address) || (mailbox.Name is { } name && !HeaderRules.IsValue(name)))
            throw Injection(what); // decoded from =?…?= or quotes
        var at = mailbox.Address.LastIndexOf('@');
        if (
            at <= 0
            || at == mailbox.Address.Length - 1
            || mailbox.Address.Length > LongestAddress
            || Uri.CheckHostName(DomainOf(mailbox)) == UriHostNameType.Unknown
        )
            throw Refused($"An address in {what} is not valid: '{Masked(mailbox.Address)}'.");
        return mailbox;
    }

    private bool IsAllowed(string domain) =>
        allow.Any(allowed =>
            allowed.StartsWith("*.", StringComparison.Ordinal)
                ? domain.EndsWith(allowed[1..], StringComparison.OrdinalIgnoreCase)
                : domain.Equals(allowed, StringComparison.OrdinalIgnoreCase)
        );

    private static string DomainOf(MailboxAddress mailbox)
    {
        var address = mailbox.GetAddress(idnEncode: true);
        return address[(address.LastIndexOf('@') + 1)..];
    }

    private EndpointException Injection(string what) =>
        Unsent(
            "ESB-SMTP-INJECTION",
            $"A value for {what} has line breaks or other control characters, which could forge headers; nothing was sent."
        );

    private EndpointException TooMany() => Unsent("ESB-SMTP-RECIPIENTS", $"The mail has more than {MostRecipients} recipients.");

    private EndpointException Refused(string sentence) => Unsent("ESB-SMTP-ADDRESS", sentence);

    private EndpointException Unsent(string code, string sentence) =>
        new(endpoint, code, sentence, isTransient: false, kind: FaultKind.Invalid) { IsUnsent = true };
}
