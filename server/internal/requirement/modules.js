// Tells which packages the JavaScript and TypeScript programs of a skill import
// that are not installed. Programs are searched and never run.
//
// Reads {"scripts": [path, ...]} with paths relative to $SKILL_DIR. Writes a
// list of {"script", "module", "sure"}; sure tells that the import is at the top
// level, where nothing can go around it.
'use strict'
const fs = require('fs')
const path = require('path')
const { builtinModules, globalPaths } = require('module')

const maxBytes = 256 << 10 // beyond it is a bundle, with all inside
const packageName = /^(@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*/i
const imports = [
  { pattern: /\b(?:import|export)\s(?!\s*type\b)[\w*{}\s,$]{0,2000}?\bfrom\s*(['"])([^'"\n]+)\1/g, always: true },
  { pattern: /\bimport\s*(['"])([^'"\n]+)\1/g, always: true },
  { pattern: /\b(?:require|import)\s*\(\s*(['"])([^'"\n]+)\1\s*\)/g, always: false },
]

// outline gives a text with blanks for its comments, and for each position how
// deep in braces it is, or -1 in a string.
function outline (text) {
  const code = text.split('')
  const depth = new Int32Array(text.length)
  let level = 0
  for (let i = 0; i < text.length; i++) {
    depth[i] = level
    const two = text.slice(i, i + 2)
    let end = i
    if (two === '//') end = text.indexOf('\n', i)
    else if (two === '/*') end = text.indexOf('*/', i + 2) + 1 || -1
    else if ('\'"`'.includes(text[i])) end = endOfString(text, i)
    else if (text[i] === '{') level++
    else if (text[i] === '}') level = Math.max(0, level - 1)
    if (end === -1) end = text.length
    for (; i < end; i++) {
      depth[i] = -1
      if (two === '//' || two === '/*') code[i] = ' '
    }
  }
  return { code: code.join(''), depth }
}

function endOfString (text, start) {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === text[start]) return i
    else if (text[i] === '\n' && text[start] !== '`') return i // no string, after all
  }
  return -1
}

// installed follows the way of Node.js up from a program. A package can be
// named by its own package.json.
function installed (name, script) {
  if (builtinModules.includes(name)) return true
  for (let dir = path.dirname(script); ; dir = path.dirname(dir)) {
    if (fs.existsSync(path.join(dir, 'node_modules', name))) return true
    try {
      if (JSON.parse(fs.readFileSync(path.join(dir, 'package.json'))).name === name) return true
    } catch { /* most directories have none */ }
    if (dir === path.dirname(dir)) break
  }
  return globalPaths.some(dir => fs.existsSync(path.join(dir, name)))
}

function look (script) {
  const file = fs.realpathSync(path.join(process.env.SKILL_DIR, script))
  if (fs.statSync(file).size > maxBytes) return {}
  const { code, depth } = outline(fs.readFileSync(file, 'utf8'))
  const answer = {}
  for (const { pattern, always } of imports) {
    for (const match of code.matchAll(pattern)) {
      const [name] = packageName.exec(match[2]) || []
      const ours = !name || match[2].slice(name.length).match(/^[^/]/) // an alias, a URL, node:
      if (depth[match.index] < 0 || ours || installed(name, file)) continue
      answer[name] = answer[name] || always || depth[match.index] === 0
    }
  }
  return answer
}

const answers = []
for (const script of JSON.parse(fs.readFileSync(0, 'utf8')).scripts) {
  try {
    for (const [module, sure] of Object.entries(look(script))) answers.push({ script, module, sure })
  } catch { /* no program */ }
}
console.log(JSON.stringify(answers))
