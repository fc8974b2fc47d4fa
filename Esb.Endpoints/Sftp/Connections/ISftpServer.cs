namespace Esb.Endpoints.Sftp.Connections;

/// <summary>Settings of an SFTP server, shared by both endpoint types.</summary>
internal interface ISftpServer
{
    string Name { get; }

    string Url { get; }

    string? Password { get; }

    string? PrivateKey { get; }

    string? Passphrase { get; }

    IReadOnlyList<string> HostKey { get; }

    TimeSpan Timeout { get; }
}
