using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Storage;

namespace Esb.Host.Management;

/// <summary>The key of the management API: created at the first start, in a file that only its owner can read.</summary>
internal sealed class ManagementKey
{
    private const int KeyBytes = 32;

    private readonly byte[] _hash;

    public ManagementKey(string key) => _hash = Hash(key);

    /// <summary>The path of the key file, relative to the working directory.</summary>
    public static string DefaultFile => Path.Combine("esb-data", "management.key");

    /// <summary>Reads the key, or creates it if the file does not exist.</summary>
    /// <exception cref="ConfigurationRefusedException">The file cannot be read or written, or holds no key.</exception>
    public static ManagementKey ReadOrCreate(string file)
    {
        try
        {
            if (!File.Exists(file))
                Create(file);
            return Read(file);
        }
        catch (FileFaultException ex)
        {
            throw Refused(file, ex.Message);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw Refused(file, $"expected a file that this user can read, or may create: {ex.Message}");
        }
    }

    /// <summary>Reads the key of a file that exists.</summary>
    /// <exception cref="FileFaultException">The file cannot be used.</exception>
    public static ManagementKey Read(string file)
    {
        try
        {
            if (OwnerFile.FaultOf(file) is { } fault)
                throw new FileFaultException(fault);
            var key = File.ReadAllText(file).Trim();
            return key.Length >= ManagementKeyConfig.ShortestKey
                ? new ManagementKey(key)
                : throw new FileFaultException(
                    $"is empty or too short: expected at least {ManagementKeyConfig.ShortestKey} characters; delete it to have a "
                        + $"new key made"
                );
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new FileFaultException($"expected a file that this user can read, or may create: {ex.Message}");
        }
    }

    /// <summary>Compares in constant time.</summary>
    public bool Matches(string? presented) => presented is not null && MatchesDigest(Hash(presented));

    /// <summary>Compares in constant time.</summary>
    /// <param name="digest">The SHA-256 of a key.</param>
    public bool MatchesDigest(ReadOnlySpan<byte> digest) => CryptographicOperations.FixedTimeEquals(digest, _hash);

    private static void Create(string file)
    {
        OwnerFolder.Make(Path.GetDirectoryName(Path.GetFullPath(file))!);
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        using var writer = new StreamWriter(file, options);
        writer.WriteLine(Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(KeyBytes)));
    }

    private static byte[] Hash(string key) => SHA256.HashData(Encoding.UTF8.GetBytes(key));

    private static ConfigurationRefusedException Refused(string file, string expected) =>
        new([new ConfigError("ESB-CFG-KEYFILE", file, null, expected)]);
}
