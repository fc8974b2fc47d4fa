namespace Esb.Content.Json.Paths;

/// <summary>Parses segments and selectors (RFC 9535, sections 2.1 to 2.5); what stands in a filter is
/// <see cref="JsonFilterParser"/>'s.</summary>
internal sealed class JsonPathParser
{
    private readonly JsonPathScanner _scanner;
    private readonly JsonFilterParser _filters;
    private bool _readsRoot;

    public JsonPathParser(string text)
    {
        _scanner = new JsonPathScanner(text);
        _filters = new JsonFilterParser(_scanner, this);
    }

    public JsonPath Parse()
    {
        _scanner.Expect("$");
        var path = Segments();
        return _scanner.AtEnd ? path : throw _scanner.Error("expected . or [");
    }

    /// <summary>The segments from here on; blanks may stand before each, not behind the last.</summary>
    public JsonPath Segments()
    {
        var segments = new List<JsonSegment>();
        while (true)
        {
            var start = _scanner.Position;
            _scanner.SkipBlanks();
            if (Segment() is not { } segment)
            {
                _scanner.Position = start;
                return new JsonPath(segments, _readsRoot);
            }

            segments.Add(segment);
        }
    }

    /// <summary>The segments of a path in a filter that begins at the root.</summary>
    public JsonPath SegmentsFromRoot()
    {
        _readsRoot = true;
        return Segments();
    }

    private JsonSegment? Segment()
    {
        if (_scanner.Take(".."))
            return new JsonSegment(descends: true, _scanner.Take("[") ? Bracketed() : [Dotted()]);
        if (_scanner.Take("."))
            return new JsonSegment(descends: false, [Dotted()]);
        return _scanner.Take("[") ? new JsonSegment(descends: false, Bracketed()) : null;
    }

    private JsonSelector Dotted()
    {
        if (_scanner.Take("*"))
            return new WildcardSelector();
        return _scanner.Name() is { } name ? new NameSelector(name) : throw _scanner.Error("expected a name or *");
    }

    private List<JsonSelector> Bracketed()
    {
        var selectors = new List<JsonSelector>();
        do
        {
            _scanner.SkipBlanks();
            selectors.Add(Selector());
            _scanner.SkipBlanks();
        } while (_scanner.Take(","));
        _scanner.Expect("]");
        return selectors;
    }

    private JsonSelector Selector()
    {
        if (_scanner.Quoted() is { } name)
            return new NameSelector(name);
        if (_scanner.Take("*"))
            return new WildcardSelector();
        if (_scanner.Take("?"))
            return new FilterSelector(_filters.Test());
        var start = _scanner.Integer();
        var behind = _scanner.Position;
        _scanner.SkipBlanks();
        if (_scanner.Take(":"))
            return Slice(start);
        _scanner.Position = behind;
        return start is { } index ? new IndexSelector(index) : throw _scanner.Error("expected a name in quotes, an index, a slice, * or ?");
    }

    private SliceSelector Slice(long? start)
    {
        _scanner.SkipBlanks();
        var end = _scanner.Integer();
        _scanner.SkipBlanks();
        if (!_scanner.Take(":"))
            return new SliceSelector(start, end, null);
        _scanner.SkipBlanks();
        return new SliceSelector(start, end, _scanner.Integer());
    }
}
