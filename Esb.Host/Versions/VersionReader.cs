using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Host.Composition;
using Esb.Host.Reloading;

namespace Esb.Host.Versions;

/// <summary>Reads and compiles what a host may run: its files, or a version. Thread-safe.</summary>
internal sealed class VersionReader(ConfigurationSource source, IConfigurationVersions versions, StoreConfig store, TimeProvider time)
{
    private readonly VersionFolders _folders = new(store.Folder, time);

    /// <summary>True if versions in the store are what hosts run; false if files are.</summary>
    public bool IsStore => source.IsBootstrap;

    /// <summary>What the host starts with.</summary>
    public ReadConfiguration StartOf(BusModel model) => new(model, source.Start?.Files, Number: source.Start?.Number);

    /// <summary>What a reload puts into service: the files, or the newest version.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    /// <exception cref="EsbException">The store cannot be read.</exception>
    public async Task<ReadConfiguration> ReadAsync(CancellationToken cancellationToken)
    {
        if (!IsStore || await versions.FindNewestAsync(cancellationToken) is not { } newest)
            return new ReadConfiguration(source.Compile());
        return await ReadAsync((await versions.FindAsync(newest.Number, cancellationToken))!, cancellationToken);
    }

    /// <summary>What another host of the farm wants to put into service: this host's files, what it ran before, or a version.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    /// <exception cref="EsbException">The store cannot be read, or does not have it.</exception>
    public async Task<ReadConfiguration> FindAsync(
        PrepareReload question,
        ReadConfiguration running,
        ReadConfiguration? previous,
        CancellationToken cancellationToken
    )
    {
        if (running.Model.Revision == question.Revision)
            return running with { Number = question.Version ?? running.Number };
        if (question.Kind == ExchangeOrder.Reload && !IsStore)
            return new ReadConfiguration(source.Compile(), Number: question.Version);
        if (previous?.Model.Revision == question.Revision)
            return previous with { Number = question.Version };
        var stored = question.Version is { } number
            ? await versions.FindAsync(number, cancellationToken)
            : await versions.FindAsync(question.Revision, cancellationToken);
        return stored is null
            ? throw new EsbException(
                "ESB-CONFIG-VERSION",
                $"The store of this host has no version of revision {question.Revision}.",
                FaultKind.Unavailable
            )
            : await ReadAsync(stored, cancellationToken);
    }

    /// <summary>A stored version.</summary>
    /// <inheritdoc cref="ReadAsync(ConfigurationContent, CancellationToken)"/>
    public async Task<ReadConfiguration> ReadAsync(StoredConfiguration stored, CancellationToken cancellationToken) =>
        await ReadAsync(stored.Content, cancellationToken) with
        {
            Number = stored.Version.Number,
        };

    /// <summary>A content that an operator sends, or that was stored.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    /// <exception cref="EsbException"><c>ESB-API-BODY</c>; <c>ESB-CONFIG-DISK</c>: it cannot be written to the folder of this
    /// host.</exception>
    public async Task<ReadConfiguration> ReadAsync(ConfigurationContent content, CancellationToken cancellationToken)
    {
        try
        {
            var files = await _folders.WriteAsync(content, cancellationToken);
            return new ReadConfiguration(source.Compile(files), files, content);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new EsbException(
                "ESB-CONFIG-DISK",
                $"The version cannot be written to the folder of this host; what runs keeps running: {ex.Message}",
                FaultKind.Unavailable,
                ex
            );
        }
    }

    /// <summary>The content of a configuration, for a version of it.</summary>
    /// <exception cref="ConfigurationRefusedException"><c>ESB-CONFIG-CONTENT</c>, where versions are what hosts run: a map or schema is
    /// outside of its folder, so that other hosts could not have it.</exception>
    /// <exception cref="EsbException"><c>ESB-CONFIG-DISK</c>: its files cannot be read any more.</exception>
    public async Task<ConfigurationContent> ContentOfAsync(ReadConfiguration read, CancellationToken cancellationToken)
    {
        if (read.Content is { } content)
            return content;
        var outside = new List<string>();
        try
        {
            content = await ContentFolder.ReadAsync(read.Files ?? source.Path, read.Model, outside, cancellationToken);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new EsbException("ESB-CONFIG-DISK", "The files of the configuration cannot be read any more.", FaultKind.Unavailable, ex);
        }

        return IsStore && outside.Count > 0 ? throw Outside(outside, source.Folder, read.Model.Revision) : content;
    }

    /// <summary>Notes what runs, for a start without the store.</summary>
    /// <exception cref="IOException">The disk is full, or cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">The folder may not be written.</exception>
    public async Task NoteAsync(ReadConfiguration running, CancellationToken cancellationToken)
    {
        if (!IsStore || running.Number is not { } number)
            return;
        _folders.Note(
            number,
            running.Files ?? await _folders.WriteAsync(await ContentOfAsync(running, cancellationToken), cancellationToken)
        );
    }

    /// <summary>The refusal of contents that are outside of the folder of a configuration.</summary>
    public static ConfigurationRefusedException Outside(IEnumerable<string> files, string folder, string revision) =>
        new([
            .. files.Select(file => new ConfigError(
                "ESB-CONFIG-CONTENT",
                file,
                null,
                $"is outside of the folder of the configuration, so a version cannot hold it; move it into {folder}"
            )),
        ])
        {
            Revision = revision,
        };
}
