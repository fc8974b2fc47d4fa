using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using System.Text.Unicode;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Json.Scanning;

/// <summary>A pass over a document that reads only as far as the questions need. Thread-safe.</summary>
/// <remarks>
/// All input that was read has been checked: grammar, UTF-8, depth, duplicate names. Input behind the deciding value is not read, so its
/// errors are not found. An error that was found is reported to every question beyond it.
/// </remarks>
internal sealed class JsonScan
{
    private static readonly JsonReaderOptions Options = new() { MaxDepth = JsonInput.MaxDepth };

    private readonly Lock _gate = new();
    private readonly bool _checksWhole;
    private readonly bool _isComplete;
    private readonly ReadOnlyMemory<byte> _document;
    private readonly JsonAnswer[] _answers;
    private readonly JsonSteps _steps;
    private readonly JsonFindings _findings;
    private readonly MemberNames _names;
    private JsonReaderState _state = new(Options);
    private int _position;
    private EsbException? _error;
    private bool _isAtEnd;

    /// <param name="paths">The questions.</param>
    /// <param name="bytes">The document, or its beginning.</param>
    /// <param name="isComplete">True if <paramref name="bytes"/> is the whole document.</param>
    /// <param name="checksWhole">True to read to the end, also where the paths do not ask for it.</param>
    public JsonScan(JsonPathSet paths, ReadOnlyMemory<byte> bytes, bool isComplete = true, bool checksWhole = false)
    {
        if (!isComplete && bytes.Length < Encoding.UTF8.Preamble.Length)
            throw new BodyNotCompleteException();
        _isComplete = isComplete;
        _document = bytes.Span.StartsWith(Encoding.UTF8.Preamble) ? bytes[Encoding.UTF8.Preamble.Length..] : bytes;
        _checksWhole = checksWhole || paths.ChecksWhole;
        _answers = new JsonAnswer[paths.Count];
        _steps = new JsonSteps(paths.Root);
        _findings = new JsonFindings(paths, _answers, _document);
        _names = new MemberNames(_document);
    }

    /// <summary>The number of bytes that have been read.</summary>
    public int Position => _position;

    /// <summary>Reads until a question is decided, or to the end.</summary>
    /// <exception cref="EsbException">The document is not valid JSON up to there (<see cref="JsonInput"/>), or the value is not valid
    /// text.</exception>
    /// <exception cref="BodyNotCompleteException">The beginning of the document does not decide it.</exception>
    public object? Answer(JsonQuestion question)
    {
        lock (_gate)
        {
            if (_checksWhole && !_isAtEnd)
                ReadToEnd();
            ref var answer = ref _answers[question.Index];
            if (!answer.IsDecided)
                ReadUntil(ref answer);
            return answer.Fault is { } fault ? throw Again(fault) : answer.Value;
        }
    }

    /// <summary>Reads, and so checks, the whole document.</summary>
    /// <exception cref="EsbException">It is not valid JSON (<see cref="JsonInput"/>).</exception>
    public void ReadToEnd()
    {
        lock (_gate)
        {
            var never = default(JsonAnswer);
            ReadUntil(ref never);
        }
    }

    private void ReadUntil(ref JsonAnswer answer)
    {
        if (_error is not null)
            throw Again(_error);
        var start = _position;
        var reader = new Utf8JsonReader(_document.Span[start..], isFinalBlock: _isComplete, _state);
        try
        {
            while (!answer.IsDecided && !_isAtEnd)
            {
                if (reader.Read())
                    Follow(ref reader, start);
                else
                    _isAtEnd = _isComplete ? true : throw new BodyNotCompleteException();
            }
        }
        catch (Exception ex) when (ex is JsonException or InvalidOperationException)
        {
            _error = JsonFaults.Explain(ex, _document.Span, _isComplete);
            throw Again(_error);
        }
        catch (EsbException ex)
        {
            _error = ex;
            throw;
        }

        _position = start + (int)reader.BytesConsumed;
        _state = reader.CurrentState;
    }

    private void Follow(ref Utf8JsonReader reader, int start)
    {
        var offset = start + (int)reader.TokenStartIndex;
        switch (reader.TokenType)
        {
            case JsonTokenType.PropertyName:
                ReadName(ref reader, offset);
                break;
            case JsonTokenType.StartObject or JsonTokenType.StartArray:
                Begin(reader.TokenType == JsonTokenType.StartArray, offset);
                break;
            case JsonTokenType.EndObject or JsonTokenType.EndArray:
                End(reader.TokenType == JsonTokenType.EndArray, start + (int)reader.BytesConsumed);
                break;
            default:
                ReadScalar(ref reader, offset);
                break;
        }
    }

    private void ReadName(ref Utf8JsonReader reader, int offset)
    {
        RequireText(ref reader);
        if (!_names.TryAdd(ref reader, offset))
            throw new JsonException("a name comes twice");
        _steps.MeetName(ref reader);
    }

    private void ReadScalar(ref Utf8JsonReader reader, int offset)
    {
        if (reader.TokenType == JsonTokenType.String)
            RequireText(ref reader);
        _steps.MeetValue();
        var arrived = _steps.Arrived;
        if (arrived.Count == 0)
            return;
        _findings.Take(arrived, ref reader, _document.Slice(offset, LengthOf(ref reader)));
        if (_steps.Depth == 0)
            return; // what follows the document is still to be checked
        foreach (var node in arrived)
            _findings.Leave(CollectionsMarshal.AsSpan(node.Next));
    }

    private void Begin(bool isArray, int offset)
    {
        _steps.MeetValue();
        _findings.Begin(_steps.Arrived, _steps.Depth, offset);
        _steps.Begin(isArray);
        if (!isArray)
            _names.Begin();
    }

    private void End(bool isArray, int end)
    {
        if (!isArray)
            _names.End();
        if (_steps.Depth > 1)
            _findings.Leave(_steps.Here);
        _steps.End();
        _findings.End(_steps.Depth, end);
    }

    private static int LengthOf(ref Utf8JsonReader reader) => (int)(reader.BytesConsumed - reader.TokenStartIndex);

    // The reader checks the bytes of a text only when the text is requested.
    private static void RequireText(ref Utf8JsonReader reader)
    {
        if (!Utf8.IsValid(reader.ValueSpan))
            throw new JsonException("not UTF-8");
    }

    private static EsbException Again(EsbException error) => new(error.Code, error.Message, error.Kind, error);
}
