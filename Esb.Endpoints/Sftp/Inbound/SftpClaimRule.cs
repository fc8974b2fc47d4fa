namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>How a file on a server is claimed.</summary>
public enum SftpClaimRule
{
    /// <summary>By renaming it into the folder <c>.esb</c> beside it.</summary>
    Rename,

    /// <summary>Not at all: the store remembers what was taken, and nothing changes on the server.</summary>
    None,
}
