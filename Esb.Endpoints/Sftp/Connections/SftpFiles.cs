using Renci.SshNet;
using Renci.SshNet.Common;
using Renci.SshNet.Sftp;

namespace Esb.Endpoints.Sftp.Connections;

/// <summary>Operations on remote files that take several requests.</summary>
internal static class SftpFiles
{
    /// <summary>The path of a folder with all links in it resolved.</summary>
    public static async Task<string> ResolveAsync(this SftpClient client, string folder, CancellationToken cancellationToken) =>
        (await client.GetAsync(folder, cancellationToken)).FullName.TrimEnd('/');

    /// <summary>Returns what has a name in a folder; null if it is a link. The client resolves links in every path, so a link shows by
    /// leading to another path, or to none.</summary>
    public static async Task<ISftpFile?> FindPlainAsync(
        this SftpClient client,
        string folder,
        string name,
        CancellationToken cancellationToken
    )
    {
        try
        {
            var found = await client.GetAsync(SftpAddress.Join(folder, name), cancellationToken);
            return found.FullName == $"{await client.ResolveAsync(folder, cancellationToken)}/{name}" ? found : null;
        }
        catch (SftpPathNotFoundException)
        {
            return null; // a link that leads nowhere, as the name is taken
        }
    }

    /// <summary>Returns the attributes of a file or folder, or of what a link leads to; null if absent.</summary>
    public static async Task<SftpFileAttributes?> FindAsync(this SftpClient client, string path, CancellationToken cancellationToken)
    {
        try
        {
            return await client.GetAttributesAsync(path, cancellationToken);
        }
        catch (SftpPathNotFoundException)
        {
            return null;
        }
    }

    /// <summary>Reads a file of a known size; null if it has another size.</summary>
    public static async Task<ReadOnlyMemory<byte>?> ReadAsync(
        this SftpClient client,
        string path,
        int size,
        CancellationToken cancellationToken
    )
    {
        var bytes = new byte[size + 1]; // one more shows a file that has grown
        using var target = new MemoryStream(bytes);
        try
        {
            await client.DownloadFileAsync(path, target, cancellationToken);
        }
        catch (NotSupportedException)
        {
            return null; // it has grown beyond the array
        }

        return target.Position == size ? bytes.AsMemory(0, size) : null;
    }

    /// <summary>Creates a folder below another, with those between.</summary>
    public static async Task MakeFolderAsync(this SftpClient client, string folder, string relative, CancellationToken cancellationToken)
    {
        var path = folder;
        foreach (var part in relative.Split('/'))
        {
            path = SftpAddress.Join(path, part);
            if (await client.FindAsync(path, cancellationToken) is null)
                await TryMakeAsync(client, path, cancellationToken);
        }
    }

    /// <summary>Renames a file; returns false if it was not renamed and the name is taken, be it by a link.</summary>
    /// <param name="client">The session.</param>
    /// <param name="source">The path of the file.</param>
    /// <param name="target">The new path, of which no link is followed at its end.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <param name="resolved">The path that the file must have with links resolved, else it counts as gone; null for any.</param>
    public static async Task<bool> TryRenameAsync(
        this SftpClient client,
        string source,
        string target,
        CancellationToken cancellationToken,
        string? resolved = null
    )
    {
        var file = await client.GetAsync(source, cancellationToken);
        if (resolved is not null && file.FullName != resolved)
            throw new SftpPathNotFoundException("The name is a link now.");
        try
        {
            await Task.Run(() => file.MoveTo(target), cancellationToken); // the only rename that follows no link under the new name
            return true;
        }
        catch (SftpException ex)
            when (ex is not SftpPathNotFoundException and not SftpPermissionDeniedException && SftpFailures.IsAnswer(ex))
        {
            // Version 3 of the protocol has no code for a name that is taken.
            var (folder, name) = (target[..Math.Max(1, target.LastIndexOf('/'))], target[(target.LastIndexOf('/') + 1)..]);
            if (await client.FindAsync(target, cancellationToken) is null && !await client.IsListedAsync(folder, name, cancellationToken))
                throw;
            return false;
        }
    }

    private static async Task<bool> IsListedAsync(this SftpClient client, string folder, string name, CancellationToken cancellationToken)
    {
        await foreach (var entry in client.ListDirectoryAsync(folder, cancellationToken))
        {
            if (entry.Name == name)
                return true;
        }

        return false;
    }

    /// <summary>Deletes a file; does nothing if absent.</summary>
    public static async Task DeleteIfThereAsync(this SftpClient client, string path, CancellationToken cancellationToken)
    {
        try
        {
            await client.DeleteFileAsync(path, cancellationToken);
        }
        catch (SftpPathNotFoundException)
        {
            // deleted before
        }
    }

    private static async Task TryMakeAsync(SftpClient client, string path, CancellationToken cancellationToken)
    {
        try
        {
            await client.CreateDirectoryAsync(path, cancellationToken);
        }
        catch (SftpException) when (!cancellationToken.IsCancellationRequested)
        {
            if (await client.FindAsync(path, cancellationToken) is null)
                throw; // otherwise another host was quicker
        }
    }
}
