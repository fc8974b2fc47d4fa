using System.Diagnostics;

namespace Esb.IntegrationTests.Faults.Farm;

/// <summary>Gives a host name resolution of its own, and a small volume for its spool, without touching the machine: a mount namespace of
/// its own.</summary>
internal sealed class Seclusion(string folder)
{
    private const long VolumeMegabytes = 8;

    // $0 hosts, $1 resolv.conf, $2 the folder of the volume; what follows is run.
    private static readonly string Script =
        $$"""mount --bind "$0" /etc/hosts && mount --bind "$1" /etc/resolv.conf && mkdir -p "$2" && mount -t tmpfs -o size={{VolumeMegabytes}}m tmpfs "$2" && shift 2 && exec "$@" """;

    private readonly string _hosts = Path.Combine(folder, "hosts");
    private readonly string _resolver = Path.Combine(folder, "resolv.conf");
    private readonly string _spool = Path.Combine("esb-data", "spool");

    /// <summary>Comes before the command line of a host.</summary>
    public IReadOnlyList<string> Launcher => ["unshare", "--map-root-user", "--mount", "sh", "-c", Script, _hosts, _resolver, _spool];

    /// <summary>Whether this machine lets a process have mounts of its own.</summary>
    public static bool IsPossible()
    {
        using var process = Process.Start("unshare", ["--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]);
        process.WaitForExit();
        return process.ExitCode == 0;
    }

    /// <summary>From now on the name means this machine, and nobody else is asked.</summary>
    public void Know(string name)
    {
        File.WriteAllText(_resolver, "nameserver 127.0.0.1\n");
        File.WriteAllText(_hosts, $"127.0.0.1 localhost\n127.0.0.1 {name}\n");
    }

    /// <summary>From now on no name is known but that of this machine.</summary>
    public void Forget() => File.WriteAllText(_hosts, "127.0.0.1 localhost\n");

    /// <summary>Fills the volume of a host.</summary>
    public void Fill(FarmHost host)
    {
        using var file = new FileStream(FillerOf(host), FileMode.Create, FileAccess.Write, FileShare.None, bufferSize: 0);
        var piece = new byte[4096];
        try
        {
            for (var written = 0L; written <= VolumeMegabytes << 20; written += piece.Length)
                file.Write(piece);
        }
        catch (IOException)
        {
            return; // full
        }

        throw new InvalidOperationException("The volume takes more than it should.");
    }

    public void Empty(FarmHost host) => File.Delete(FillerOf(host));

    // What the host sees, seen from here.
    private string FillerOf(FarmHost host) => $"/proc/{host.Process.Id}/root{Path.Combine(host.Folder, _spool, "filler")}";
}
