namespace Esb.Endpoints.Sftp.Connections;

/// <summary>The address of a folder on an SFTP server.</summary>
/// <param name="Host">Name or address.</param>
/// <param name="Port">22 by default.</param>
/// <param name="User">The user.</param>
/// <param name="Folder">An absolute path, or one relative to the home folder of the user; the home folder itself is <c>.</c>.</param>
internal sealed record SftpAddress(string Host, int Port, string User, string Folder)
{
    private const int DefaultPort = 22;
    private const string Home = "/~/";

    /// <summary>Host and port, for operators.</summary>
    public string Place => $"sftp://{Host}:{Port}";

    /// <summary>Parses <c>sftp://user@host:22/absolute/folder</c>, or <c>/~/folder</c> for a folder of the user's home; null if the text is
    /// something else.</summary>
    public static SftpAddress? Parse(string text)
    {
        if (
            !Uri.TryCreate(text, UriKind.Absolute, out var url)
            || url is not { Scheme: "sftp", Query: "", Fragment: "", Host.Length: > 0, UserInfo.Length: > 0 }
        )
            return null;
        if (url.UserInfo.Contains(':') || text.Contains("/..", StringComparison.Ordinal) || text.Contains("/./", StringComparison.Ordinal))
            return null;
        var path = Uri.UnescapeDataString(url.AbsolutePath);
        if (path.Any(char.IsControl) || path.Contains('\\') || path.Split('/').Any(part => part is "." or ".."))
            return null;
        var folder = path.TrimEnd('/') switch
        {
            "" => "/",
            "/~" => ".",
            var whole when whole.StartsWith(Home, StringComparison.Ordinal) => whole[Home.Length..],
            var whole => whole,
        };
        return new SftpAddress(url.IdnHost, url.Port > 0 ? url.Port : DefaultPort, Uri.UnescapeDataString(url.UserInfo), folder);
    }

    /// <summary>The path of a name, or of a relative path, below a folder.</summary>
    public static string Join(string folder, string name) =>
        folder.Length == 0 ? name
        : folder.EndsWith('/') ? folder + name
        : $"{folder}/{name}";
}
