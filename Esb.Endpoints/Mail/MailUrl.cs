using System.Diagnostics.CodeAnalysis;

namespace Esb.Endpoints.Mail;

/// <summary>Addresses of mail servers.</summary>
internal static class MailUrl
{
    /// <summary>The scheme with TLS from the first byte (RFC 8314).</summary>
    public const string Implicit = "smtps";

    private const string Plain = "smtp";
    private const int ImplicitPort = 465;
    private const int SubmissionPort = 587;

    /// <summary>True if a text is the address of a mail server.</summary>
    public static bool Is(string text, [NotNullWhen(true)] out Uri? url) =>
        Uri.TryCreate(text, UriKind.Absolute, out url)
        && url is { Scheme: Plain or Implicit, UserInfo: "", Query: "", Fragment: "", AbsolutePath: "" or "/", Host.Length: > 0 };

    /// <summary>The port of an address; by default 587, or 465 with smtps.</summary>
    public static int PortOf(Uri url) =>
        url.Port > 0 && !url.IsDefaultPort ? url.Port
        : url.Scheme == Implicit ? ImplicitPort
        : SubmissionPort;
}
