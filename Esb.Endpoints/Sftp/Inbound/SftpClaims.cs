using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Endpoints.Files;
using Esb.Endpoints.Sftp.Connections;
using Microsoft.Extensions.Logging;
using Renci.SshNet;
using Renci.SshNet.Common;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>Claims files for this host, remembers what was taken, and takes over claims that a host left. Thread-safe.</summary>
/// <remarks>
/// With <c>rename</c> a claimed file is <c>.esb/NAME</c> beside its place: the rename succeeds once, and whatever is found there and not in
/// the hands of this instance was left by a host that ended, or by a rename whose answer was lost. Its id is derived from the same values
/// as before.
/// </remarks>
internal sealed partial class SftpClaims(
    SftpInboundConfig config,
    string folder,
    ReadyRule? ready,
    IEndpointMarks marks,
    ILogger<SftpClaims> logger
)
{
    private static readonly TimeSpan KeptAfterTaking = TimeSpan.FromDays(7); // only until "after" is done

    private readonly ConcurrentDictionary<string, bool> _held = new();
    private readonly ConcurrentDictionary<string, string> _resolved = new(); // folders, with links resolved
    private HashSet<Guid> _taken = []; // of claim none: ids known to be taken, of files that are still there

    /// <summary>True if this instance has a file of that place in its hands.</summary>
    public bool IsHeld(SftpFile file) => _held.ContainsKey(file.Relative);

    /// <summary>True if a file is known to be taken; it is then noted in <paramref name="present"/>.</summary>
    public bool IsTaken(SftpFile file, HashSet<Guid> present)
    {
        if (config.Claim != SftpClaimRule.None)
            return false;
        var id = file.IdFor(config.Name, folder);
        lock (_held)
        {
            if (!_taken.Contains(id))
                return false;
        }

        present.Add(id);
        return true;
    }

    /// <summary>Forgets taken files that are no longer there.</summary>
    public void KeepTaken(HashSet<Guid> present)
    {
        if (config.Claim != SftpClaimRule.None)
            return;
        lock (_held)
            _taken = present;
    }

    /// <summary>Claims a file; null if it is gone, in hand, or was taken before.</summary>
    public async Task<SftpItem?> TryClaimAsync(SftpClient client, SftpFile file, CancellationToken cancellationToken)
    {
        if (!_held.TryAdd(file.Relative, true))
            return null;
        SftpItem? item = null;
        try
        {
            item =
                config.Claim == SftpClaimRule.None
                    ? await RememberedAsync(file, cancellationToken)
                    : await RenameAsync(client, file, cancellationToken);
            return item;
        }
        finally
        {
            if (item is null)
                _held.TryRemove(file.Relative, out _);
        }
    }

    /// <summary>Takes over the claims in a folder that nobody has in hand.</summary>
    public async Task TakeOverAsync(SftpClient client, string relative, List<SftpItem> items, CancellationToken cancellationToken)
    {
        var path = SftpAddress.Join(ParentOf(relative), SftpScan.ClaimFolder);
        var resolved = await ResolveAsync(client, relative, cancellationToken);
        var triggers = new List<string>();
        try
        {
            await foreach (var entry in client.ListDirectoryAsync(path, cancellationToken))
            {
                if (entry.FullName != $"{resolved}/{SftpScan.ClaimFolder}/{entry.Name}")
                    throw new EndpointException(
                        config.Name,
                        "ESB-FILE-LINK",
                        "The folder of claims is a link, which is not followed.",
                        isTransient: true
                    )
                    {
                        IsOutage = true,
                    };
                if (!entry.IsRegularFile || items.Count >= config.MaxFiles)
                    continue;
                if (ready?.FileOf(entry.Name) is { } name)
                    triggers.Add(name);
                else if (
                    NamePatterns.Matches(config.Pattern, entry.Name)
                    && await FindLeftAsync(new SftpFile(relative, entry.Name, entry.Length, entry.LastWriteTimeUtc), cancellationToken)
                        is { } left
                )
                    items.Add(left);
            }
        }
        catch (SftpPathNotFoundException)
        {
            return; // nothing was ever claimed there
        }

        foreach (var name in triggers)
            await ReturnTriggerAsync(client, relative, name, cancellationToken);
    }

    /// <summary>Records that the message of a file has arrived, before the file is put away.</summary>
    /// <exception cref="EsbException">The store is unreachable.</exception>
    public async Task RecordAsync(SftpItem item)
    {
        var keep = config.Claim == SftpClaimRule.None ? config.Remember : KeptAfterTaking;
        await marks.KeepAsync(config.Name, MarkOf(item.MessageId), item.Refusal?.Code ?? "taken", keep, CancellationToken.None);
        if (config.Claim != SftpClaimRule.None)
            return;
        lock (_held)
            _taken.Add(item.MessageId);
    }

    /// <summary>Gives a file that is put away, or gone, out of hand.</summary>
    public async Task ReleaseAsync(SftpItem item, bool isRecorded)
    {
        if (isRecorded && config.Claim == SftpClaimRule.Rename)
            await marks.RemoveAsync(config.Name, MarkOf(item.MessageId), CancellationToken.None);
        Forget(item);
    }

    /// <summary>Gives a file out of hand; it is found again if it is still there.</summary>
    public void Forget(SftpItem item) => _held.TryRemove(item.File.Relative, out _);

    /// <summary>The path of the trigger that was claimed with a file; null if there are none.</summary>
    public string? TriggerOf(SftpItem item) =>
        ready is null || config.Claim == SftpClaimRule.None ? null : ClaimPath(item.File.Folder, ready.TriggerOf(item.File.Name));

    private static string MarkOf(Guid id) => $"taken {id:N}";

    private string PlaceOf(string relative) => SftpAddress.Join(folder, relative);

    private string ClaimPath(string relative, string name) => PlaceOf(SftpAddress.Join(relative, $"{SftpScan.ClaimFolder}/{name}"));

    private async Task<SftpItem?> RememberedAsync(SftpFile file, CancellationToken cancellationToken)
    {
        var id = file.IdFor(config.Name, folder);
        if (await marks.FindAsync(config.Name, MarkOf(id), cancellationToken) is null)
            return new SftpItem(id, file, PlaceOf(file.Relative));
        lock (_held)
            _taken.Add(id);
        return null;
    }

    private async Task<SftpItem?> RenameAsync(SftpClient client, SftpFile file, CancellationToken cancellationToken)
    {
        try
        {
            // The trigger goes first: a crash between the two leaves a trigger among the claims, which is put back.
            if (ready is not null)
                await RenameIntoAsync(client, file with { Name = ready.TriggerOf(file.Name) }, cancellationToken);
            if (!await RenameIntoAsync(client, file, cancellationToken))
                return null; // an earlier file of this name is still among the claims
            return new SftpItem(file.IdFor(config.Name, folder), file, ClaimPath(file.Folder, file.Name));
        }
        catch (SftpPathNotFoundException ex)
        {
            var shown = SafeFileName.Escape(file.Name);
            LogGone(ex, config.Name, shown);
            return null;
        }
    }

    private async Task<bool> RenameIntoAsync(SftpClient client, SftpFile file, CancellationToken cancellationToken)
    {
        var (source, target) = (PlaceOf(file.Relative), ClaimPath(file.Folder, file.Name));
        var resolved = $"{await ResolveAsync(client, file.Folder, cancellationToken)}/{file.Name}";
        try
        {
            return await client.TryRenameAsync(source, target, cancellationToken, resolved);
        }
        catch (Exception ex) when (SftpFailures.IsAnswer(ex) && ex is not EsbException)
        {
            // The first claim finds no folder of claims.
            var parent = ParentOf(file.Folder);
            if (await client.FindAsync(SftpAddress.Join(parent, SftpScan.ClaimFolder), cancellationToken) is not null)
                throw;
            await client.MakeFolderAsync(parent, SftpScan.ClaimFolder, cancellationToken);
            return await client.TryRenameAsync(source, target, cancellationToken, resolved);
        }
    }

    // A name that is a link by now would let a partner pass off a file of others as his own.
    private async Task<string> ResolveAsync(SftpClient client, string relative, CancellationToken cancellationToken)
    {
        if (_resolved.TryGetValue(relative, out var known))
            return known;
        if (_resolved.Count >= config.MaxFiles)
            _resolved.Clear();
        return _resolved[relative] = await client.ResolveAsync(ParentOf(relative), cancellationToken);
    }

    private string ParentOf(string relative) => relative.Length == 0 ? folder : PlaceOf(relative);

    private async Task<SftpItem?> FindLeftAsync(SftpFile file, CancellationToken cancellationToken)
    {
        if (!_held.TryAdd(file.Relative, true))
            return null;
        try
        {
            var id = file.IdFor(config.Name, folder);
            var isTaken = await marks.FindAsync(config.Name, MarkOf(id), cancellationToken) is not null;
            LogTakenOver(config.Name, id);
            return new SftpItem(id, file, ClaimPath(file.Folder, file.Name)) { HasArrived = isTaken };
        }
        catch
        {
            _held.TryRemove(file.Relative, out _);
            throw;
        }
    }

    // A trigger whose file is neither claimed nor in hand: the host ended between the two renames, or after the file was put away.
    private async Task ReturnTriggerAsync(SftpClient client, string relative, string name, CancellationToken cancellationToken)
    {
        var file = SftpAddress.Join(relative, name);
        if (_held.ContainsKey(file) || await client.FindAsync(ClaimPath(relative, name), cancellationToken) is not null)
            return;
        var (claimed, place) = (ClaimPath(relative, ready!.TriggerOf(name)), PlaceOf(SftpAddress.Join(relative, ready.TriggerOf(name))));
        if (
            await client.FindAsync(PlaceOf(file), cancellationToken) is null
            || !await client.TryRenameAsync(claimed, place, cancellationToken)
        )
            await client.DeleteIfThereAsync(claimed, cancellationToken);
    }

    [LoggerMessage(EventId = 2341, Level = LogLevel.Debug, Message = "{Endpoint} found '{File}' gone when it took it")]
    private partial void LogGone(Exception cause, string endpoint, string file);

    [LoggerMessage(
        EventId = 2342,
        Level = LogLevel.Information,
        Message = "{Endpoint} takes up the file of message {MessageId}, which was left claimed"
    )]
    private partial void LogTakenOver(string endpoint, Guid messageId);
}
